//! Frames at three sizes, and what keys change in them.

use super::*;
use crate::browse::app::{Mode, Next, Program};
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Color;
use std::fs;

/// `/srv`: a directory with two files, a file, a name that would control a terminal, and one that is not UTF-8.
fn scanner() -> Scanner {
    let scanner = Scanner::new();
    let mut tree = scanner.shared.lock();
    tree.add(Id::TOP, [directory("/srv", 1)]);
    let root = find_root(&tree);
    let strange = Fresh { name: b"\x1b[2J\nx", ..file("", 5, 70_000) };
    let latin = Fresh { name: b"f\xfcr", ..file("", 6, 10) };
    tree.add(root, [directory("home", 2), file("big", 3, 3 << 20), file("small", 4, 1), strange, latin]);
    let home = tree.children(root).find(|id| tree.name(*id) == b"home").expect("home");
    tree.add(home, [file("one", 7, 1 << 20), file("two", 8, 1 << 19)]);
    drop(tree);
    scanner.complete();
    scanner
}

fn find_root(tree: &Tree) -> Id {
    tree.children(Id::TOP).next().expect("the root")
}

#[test]
fn eighty_columns() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    assert_eq!(
        screen(&mut app, 80, 8),
        [
            " dents browse  /srv",
            "      3.0M  65.4% ████████  big",
            "      1.6M  32.8% ████     /home",
            "       72K   1.5% ▏         ''$'\\033''[2J'$'\\n''x'",
            "      4.0K   0.1% ▏         'f'$'\\374''r'",
            "      4.0K   0.1% ▏         small",
            "",
            " 4.6M allocated, 7 entries  by size                                 ? shows keys",
        ]
    );
}

#[test]
fn forty_columns_and_two_hundred() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    let small = screen(&mut app, 40, 12);
    assert_eq!(small[0], " /srv");
    assert_eq!(small[1..3], ["      3.0M  big", "      1.6M /home"]);
    assert_eq!(small[11], " 4.6M allocated, 7 entries> ? shows keys");
    press(&mut app, "cm");
    assert_eq!(screen(&mut app, 40, 12)[1..3], small[1..3], "the name is the last to go");
    let middle = screen(&mut app, 50, 12);
    assert!(middle[2].contains(" 2 /home") && !middle[2].contains("2023"), "{}", middle[2]);
    let wide = screen(&mut app, 200, 50);
    let bar = "█".repeat(26);
    assert!(wide[1].starts_with(&format!("      3.0M  65.4% {bar}")), "{}", wide[1]);
    assert!(wide[2].contains(" 2 2023-11-1") && wide[2].ends_with("/home"), "{}", wide[2]);
    // A screen that is too small for anything is no error.
    for (columns, rows) in [(1, 1), (2, 3), (9, 2), (9, 50), (300, 3)] {
        let shown = screen(&mut app, columns, rows);
        assert!(columns < 9 || shown[0] == "too small", "{columns}x{rows}: {shown:?}");
        assert!(columns < 300 || shown[1] == "20 columns and 4 rows are needed", "{shown:?}");
        press(&mut app, "?");
        screen(&mut app, columns, rows);
        press(&mut app, "?");
    }
}

#[test]
fn keys_sort_open_and_filter() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    let first = |app: &mut App<'_>| screen(app, 80, 12)[1].rsplit(' ').next().unwrap_or_default().to_owned();
    assert_eq!(first(&mut app), "big");
    for (keys, expected) in [
        ("n", "''$'\\033''[2J'$'\\n''x'"),
        ("n", "small"),
        ("s", "big"),
        ("s", "'f'$'\\374''r'"),
        ("C", "/home"),
        ("st", "/home"),
        ("ta", "big"),
        ("/SMA", "small"),
        ("\x1b", "big"),
    ] {
        press(&mut app, keys);
        assert_eq!(first(&mut app), expected, "{keys:?}");
    }
    press(&mut app, "jl");
    assert_eq!(
        screen(&mut app, 80, 12)[..3],
        [" dents browse  /srv/home", "      1.0M  66.7% ████████  one", "      512K  33.3% ████      two"]
    );
    press(&mut app, "h");
    assert_eq!(app.view.entry(), app.view.rows.get(1).copied(), "the directory that was left is selected");
    press(&mut app, "h");
    assert_ne!(app.view.directory, Id::TOP, "above the only operand is nothing");
}

#[test]
fn information_and_help() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    screen(&mut app, 80, 24);
    press(&mut app, "/SMA\ni");
    let text = screen(&mut app, 80, 24).join("\n");
    assert!(text.contains("path       /srv/small") && text.contains("4.0K (4,096 bytes)"), "{text}");
    // Without a name, the number; a name from a scan file is no way to the terminal.
    assert!(text.contains("user       1 ") && text.contains("group      2 "), "{text}");
    scanner.shared.learn(super::Owners { uid: 1, gid: 2 }, Some(b"a\x1b[2Jnn"), Some(b"staff"));
    let text = screen(&mut app, 80, 24).join("\n");
    assert!(
        text.contains(r"user       'a'$'\033''[2Jnn' (1)") && text.contains("group      staff (2)"),
        "{text}"
    );
    press(&mut app, "i?");
    let text = screen(&mut app, 80, 60).join("\n");
    for line in crate::browse::keys::LINES {
        assert!(text.contains(line.text), "{}", line.text);
    }
    // Short screens scroll, to the end and no further.
    press(&mut app, &"j".repeat(500));
    let text = screen(&mut app, 60, 12).join("\n");
    assert!(text.contains("marked (first column)"), "{text}");
}

#[test]
fn colours_and_icons_are_those_of_dls() {
    let scanner = scanner();
    let mut app = colored(&scanner);
    let lines = screen(&mut app, 80, 8);
    assert!(lines[1].ends_with("F big") && lines[2].ends_with(" home"), "{lines:?}");
    app.tick();
    let mut terminal = Terminal::new(TestBackend::new(80, 8)).expect("memory");
    terminal.draw(|frame| crate::browse::draw::draw(frame, &mut app)).expect("memory");
    let name = lines[2].chars().count() as u16 - 1;
    let cell = terminal.backend().buffer().cell((name, 2)).expect("on the screen");
    assert_eq!((cell.symbol(), cell.fg), ("e", Color::Blue), "01;34");
}

#[test]
fn the_mouse_selects_and_opens() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    screen(&mut app, 80, 8);
    let mut click = |button, row| {
        let kind = MouseEventKind::Down(button);
        app.event(&Event::Mouse(MouseEvent { kind, column: 5, row, modifiers: KeyModifiers::NONE }));
        (app.view.selected, app.view.rows.len())
    };
    assert_eq!(click(MouseButton::Left, 2), (1, 5));
    assert_eq!(click(MouseButton::Left, 7), (1, 5), "the line at the bottom is no entry");
    assert_eq!(click(MouseButton::Left, 2), (0, 2), "the second click opens");
    assert_eq!(click(MouseButton::Right, 2), (1, 5));
}

#[test]
fn marks_are_exported_to_a_new_file() {
    let dir = dents_lab::fixture::TempDir::new("marks").expect("a directory");
    let file = dir.path().join("marks");
    let name = file.to_str().expect("UTF-8");
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    screen(&mut app, 80, 8);
    press(&mut app, "E");
    assert_eq!(app.message, "nothing is marked: Space marks an entry");
    press(&mut app, &format!("n   E{name}\n"));
    assert!(app.message.contains("start with -0"), "{}", app.message);
    app.setting.null = true;
    press(&mut app, &format!("E{name}\n"));
    assert_eq!(fs::read(&file).expect("a file"), b"/srv/\x1b[2J\nx\0/srv/big\0/srv/f\xfcr\0");
    press(&mut app, &format!("E{name}\n"));
    assert!(app.message.contains("File exists") && app.message.contains("another name"), "{}", app.message);
    press(&mut app, "u");
    assert!(app.view.marks.is_empty());
}

#[test]
fn what_is_not_possible_is_said() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, SETTING);
    screen(&mut app, 80, 8);
    for (keys, expected) in [("d", "--delete"), ("jv", "regular file"), ("!", "everything could be read")] {
        press(&mut app, keys);
        assert!(app.message.contains(expected), "{}", app.message);
    }
    assert!(matches!(press(&mut app, "kv"), Next::Run(Program::Pager, path) if path == b"/srv/big"));
    app.setting.is_live = false;
    app.setting.may_delete = true;
    for keys in ["d", "v", "b", "r"] {
        press(&mut app, keys);
        assert!(app.message.contains("scan file"), "{keys}: {}", app.message);
        assert!(matches!(app.mode, Mode::List));
    }
}

/// What cannot be seen cannot be confirmed.
#[test]
fn a_question_must_fit_the_terminal() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, Setting { may_delete: true, ..SETTING });
    for (columns, rows) in [(80, 6), (12, 24)] {
        screen(&mut app, 80, 24);
        press(&mut app, "d");
        assert!(matches!(app.mode, Mode::Confirm(_)));
        screen(&mut app, columns, rows);
        press(&mut app, "y");
        assert!(matches!(app.mode, Mode::List) && app.message.contains("too small"), "{}", app.message);
    }
}

/// At every size: where `y` would delete, the last line of the question is on the screen.
#[test]
fn a_question_that_can_be_confirmed_is_seen() {
    let scanner = scanner();
    let (mut app, _received) = app(&scanner, Setting { may_delete: true, ..SETTING });
    screen(&mut app, 80, 24);
    press(&mut app, "jd");
    let mut whole = 0;
    for (columns, rows) in (1..100).flat_map(|columns| (1..26).map(move |rows| (columns, rows))) {
        let text: String = screen(&mut app, columns, rows).concat();
        let words: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        assert!(!app.is_popup_whole || words.contains("anyotherkeydoesnot"), "{columns}x{rows}: {text}");
        whole += usize::from(app.is_popup_whole);
    }
    assert!(whole > 1000, "{whole}");
}

/// The table of keys in the documentation is that of the program.
#[test]
fn the_documentation_has_all_keys() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/BROWSE.md");
    let text = fs::read_to_string(path).expect("the page");
    let rows = crate::browse::keys::LINES.iter().map(|line| {
        let keys: Vec<String> =
            line.keys.split(' ').map(|key| format!("`{}`", key.replace('^', "Ctrl-"))).collect();
        format!("| {} | {} |\n", keys.join(" "), line.text)
    });
    let table: String = ["| keys | |\n|---|---|\n".to_owned()].into_iter().chain(rows).collect();
    assert!(text.contains(&table), "docs/BROWSE.md needs this table:\n{table}");
}
