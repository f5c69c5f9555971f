//! The keys, and what they do: those of ncdu and gdu, where these agree.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    Leave,
    SortBySize,
    SortByName,
    SortByItems,
    SortByTime,
    Apparent,
    DirectoriesFirst,
    Items,
    Times,
    Filter,
    Mark,
    Unmark,
    Export,
    Delete,
    Pager,
    Editor,
    Shell,
    Again,
    Info,
    Messages,
    Help,
    Suspend,
    Quit,
    QuitAndPrint,
}

/// A line of the help: keys as they are written there, and what they do.
pub(super) struct Line {
    pub(super) keys: &'static str,
    pub(super) action: Action,
    pub(super) text: &'static str,
}

const fn line(keys: &'static str, action: Action, text: &'static str) -> Line {
    Line { keys, action, text }
}

/// All keys. A line may have several, with spaces between them; `^` is Ctrl.
pub(super) const LINES: &[Line] = &[
    line("Up k", Action::Up, "select the entry above"),
    line("Down j", Action::Down, "select the entry below"),
    line("PageUp", Action::PageUp, "go a page up"),
    line("PageDown", Action::PageDown, "go a page down"),
    line("Home g", Action::First, "go to the first entry"),
    line("End G", Action::Last, "go to the last entry"),
    line("Right Enter l", Action::Enter, "open the selected directory"),
    line("Left Backspace h <", Action::Leave, "go to the directory above"),
    line("s", Action::SortBySize, "sort by size; again: smallest first"),
    line("n", Action::SortByName, "sort by name; again: last first"),
    line("C", Action::SortByItems, "sort by number of entries; again: fewest first"),
    line("M", Action::SortByTime, "sort by last change; again: oldest first"),
    line("a", Action::Apparent, "show bytes in files, or allocated space"),
    line("t", Action::DirectoriesFirst, "show directories first, or not"),
    line("c", Action::Items, "show numbers of entries, or not"),
    line("m", Action::Times, "show times of the last change, or not"),
    line("/", Action::Filter, "show only names that contain what you type; Esc: all"),
    line("Space", Action::Mark, "mark the entry, or take its mark away"),
    line("u", Action::Unmark, "take all marks away"),
    line("E", Action::Export, "write the paths of the marked entries to a file"),
    line("d", Action::Delete, "delete the marked entries, or this one (with --delete)"),
    line("v", Action::Pager, "view the file in $PAGER"),
    line("e", Action::Editor, "edit the file in $VISUAL or $EDITOR"),
    line("b", Action::Shell, "start $SHELL in the directory"),
    line("r", Action::Again, "scan the directory again"),
    line("i", Action::Info, "show what is known of the entry"),
    line("!", Action::Messages, "show what could not be read"),
    line("? F1", Action::Help, "show the keys"),
    line("^Z", Action::Suspend, "stop, until the shell continues it"),
    line("q ^C", Action::Quit, "quit"),
    line("Q", Action::QuitAndPrint, "quit, and write the path that is shown to standard output"),
];

/// What a key does; `None` if nothing.
pub(super) fn action(key: &KeyEvent) -> Option<Action> {
    let is_it = |name: &str| code(name) == Some((key.code, key.modifiers.contains(KeyModifiers::CONTROL)));
    LINES.iter().find(|line| line.keys.split(' ').any(is_it)).map(|line| line.action)
}

/// The code of a key that is written in [`LINES`], and whether Ctrl is held.
fn code(name: &str) -> Option<(KeyCode, bool)> {
    let code = match name {
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Right" => KeyCode::Right,
        "Left" => KeyCode::Left,
        "Enter" => KeyCode::Enter,
        "Backspace" => KeyCode::Backspace,
        "Space" => KeyCode::Char(' '),
        "F1" => KeyCode::F(1),
        _ => {
            let control = name.strip_prefix('^').filter(|rest| !rest.is_empty());
            let mut letters = control.unwrap_or(name).chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
            let letter = if control.is_some() { letter.to_ascii_lowercase() } else { letter };
            return Some((KeyCode::Char(letter), control.is_some()));
        }
    };
    Some((code, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_does_one_thing() {
        let mut seen = std::collections::HashSet::new();
        for line in LINES {
            for name in line.keys.split(' ') {
                let (code, control) = code(name).expect(name);
                assert!(seen.insert((code, control)), "{name} is there twice");
                let modifiers = if control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
                assert_eq!(action(&KeyEvent::new(code, modifiers)), Some(line.action), "{name}");
            }
        }
        assert_eq!(action(&KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE)), Some(Action::Items));
        assert_eq!(action(&KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)), None);
    }
}
