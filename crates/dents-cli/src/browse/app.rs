//! The browser: what a key does in each state.

use super::delete::{self, DeletionProgress, Target};
use super::gather::Root;
use super::keys::{self, Action};
use super::names::Names;
use super::question::Question;
use super::scanner::{Again, Scanner, State};
use super::tree::{Id, Tree};
use super::view::{Key, View};
use dents_commands::message;
use dents_core::needs::Kind;
use dents_render::human::SizeFormat;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The list is arranged at most this often while a scan adds to it, and for at most a tenth of the time.
const FRAME: Duration = Duration::from_millis(100);
/// A wheel moves by this many rows.
const WHEEL: isize = 3;

/// What the keys mean now, and what is drawn above the list.
pub(super) enum Mode {
    List,
    /// The filter is typed.
    Filter,
    /// The name of a file for the marks is typed.
    Export(String),
    Confirm(Question),
    Deleting(Deletion),
    /// Texts, and the first line that is visible.
    Help(usize),
    Messages(usize),
    Info(Id),
}

/// A deletion that runs on a thread of its own.
pub(super) struct Deletion {
    pub(super) progress: Arc<DeletionProgress>,
    /// Returns which entries are gone.
    thread: Option<JoinHandle<Vec<(Id, bool)>>>,
}

/// What the loop around does next.
pub(super) enum Next {
    Stay,
    Quit,
    QuitAndPrint,
    Suspend,
    /// A program, and the file or the directory for it.
    Run(Program, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Pager,
    Editor,
    Shell,
}

/// How the browser was started.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) may_delete: bool,
    /// A tree, not a scan file.
    pub(super) is_live: bool,
    /// Whether there is one operand, which is shown at once.
    pub(super) has_one_root: bool,
    /// Whether exported paths end with NUL.
    pub(super) null: bool,
    pub(super) apparent: bool,
    pub(super) units: SizeFormat,
}

pub(super) struct App<'s> {
    pub(super) scanner: &'s Scanner,
    pub(super) setting: Setting,
    pub(super) names: Names,
    pub(super) view: View,
    pub(super) mode: Mode,
    /// What the last key led to.
    pub(super) message: String,
    requests: Sender<Again>,
    begun: Instant,
    /// When the list may be arranged again.
    due: Instant,
    /// The rows that fit, and the row of the screen where the list begins, when it was last drawn.
    pub(super) visible: usize,
    /// Whether the last frame had room for all lines of the popup.
    pub(super) is_popup_whole: bool,
    pub(super) list_top: u16,
    /// Whether something changed since the last frame.
    pub(super) is_stale: bool,
    last_state: State,
}

impl<'s> App<'s> {
    pub(super) fn new(
        scanner: &'s Scanner,
        setting: Setting,
        names: Names,
        requests: Sender<Again>,
    ) -> App<'s> {
        let now = Instant::now();
        App {
            scanner,
            setting,
            names,
            view: View::new(Id::TOP, setting.apparent),
            mode: Mode::List,
            message: String::new(),
            requests,
            begun: now,
            due: now,
            visible: 1,
            is_popup_whole: false,
            list_top: 1,
            is_stale: true,
            last_state: State::Scanning,
        }
    }

    /// How long it has been running.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// What happens without a key. To be called at least every [`FRAME`] while something goes on.
    pub(super) fn tick(&mut self) {
        self.end_deletion();
        let state = self.scanner.state();
        let changed = state != std::mem::replace(&mut self.last_state, state);
        self.is_stale |= changed || self.is_busy();
        if Instant::now() < self.due && !changed {
            return;
        }
        let scanner = self.scanner;
        let tree = scanner.shared.lock();
        self.show_root(&tree, state);
        if self.view.is_old(&tree) {
            let begun = Instant::now();
            self.view.arrange(&tree);
            self.is_stale = true;
            self.due = Instant::now() + FRAME.max(begun.elapsed() * 10);
        }
    }

    /// Whether the screen changes without a key.
    pub(super) fn is_busy(&self) -> bool {
        self.last_state == State::Scanning || matches!(self.mode, Mode::Deleting(_))
    }

    /// Shows the only operand, not the list that has it alone.
    fn show_root(&mut self, tree: &Tree, state: State) {
        if self.view.directory != Id::TOP {
            return;
        }
        let mut roots = tree.children(Id::TOP);
        if let (Some(root), None) = (roots.next(), roots.next())
            && (self.setting.has_one_root || state != State::Scanning)
            && tree.node(root).is_dir()
        {
            self.view.enter(root, None, tree);
        }
    }

    /// Whether nothing could be read at all.
    pub(super) fn has_failed(&self) -> bool {
        let state = self.scanner.state();
        let tree = self.scanner.shared.lock();
        let nothing = tree
            .children(Id::TOP)
            .all(|root| tree.node(root).has(super::tree::Flags::FAILED) && tree.node(root).entries == 0);
        state == State::Incomplete && nothing
    }

    pub(super) fn event(&mut self, event: &Event) -> Next {
        self.is_stale = true;
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Mouse(mouse) => self.mouse(mouse),
            _ => Next::Stay,
        }
    }

    fn key(&mut self, key: &KeyEvent) -> Next {
        self.message.clear();
        match &mut self.mode {
            Mode::List => return keys::action(key).map_or(Next::Stay, |action| self.act(action)),
            Mode::Filter => self.type_filter(key),
            Mode::Export(_) => self.type_export(key),
            Mode::Confirm(_) => {
                let mode = std::mem::replace(&mut self.mode, Mode::List);
                match (mode, key.code) {
                    (Mode::Confirm(_), KeyCode::Char('y')) if !self.is_popup_whole => {
                        self.message =
                            "nothing was deleted: the terminal is too small for the question".to_owned();
                    }
                    (Mode::Confirm(question), KeyCode::Char('y')) => self.delete(question),
                    _ => self.message = "nothing was deleted".to_owned(),
                }
            }
            Mode::Deleting(deletion) => {
                if key.code == KeyCode::Esc || is_control_c(key) {
                    deletion.progress.stop.store(true, Relaxed);
                }
            }
            Mode::Help(top) | Mode::Messages(top) => match keys::action(key) {
                Some(Action::Down) => *top += 1,
                Some(Action::Up) => *top = top.saturating_sub(1),
                Some(Action::PageDown) => *top += 10,
                Some(Action::PageUp) => *top = top.saturating_sub(10),
                _ => self.mode = Mode::List,
            },
            Mode::Info(_) => self.mode = Mode::List,
        }
        Next::Stay
    }

    fn act(&mut self, action: Action) -> Next {
        let page = self.visible.saturating_sub(1).max(1).cast_signed();
        match action {
            Action::Up => self.view.step(-1),
            Action::Down => self.view.step(1),
            Action::PageUp => self.view.step(-page),
            Action::PageDown => self.view.step(page),
            Action::First => self.view.go(0),
            Action::Last => self.view.go(usize::MAX),
            Action::Enter => self.enter(),
            Action::Leave => self.leave(),
            Action::SortBySize => self.sort(Key::Size),
            Action::SortByName => self.sort(Key::Name),
            Action::SortByItems => self.sort(Key::Items),
            Action::SortByTime => self.sort(Key::Time),
            Action::Apparent => self.toggle(|view| &mut view.apparent),
            Action::DirectoriesFirst => self.toggle(|view| &mut view.directories_first),
            Action::Items => self.toggle(|view| &mut view.shows_items),
            Action::Times => self.toggle(|view| &mut view.shows_times),
            Action::Filter => self.mode = Mode::Filter,
            Action::Mark => self.view.mark(),
            Action::Unmark => self.view.marks.clear(),
            Action::Export if self.view.marks.is_empty() => {
                self.say("nothing is marked: Space marks an entry")
            }
            Action::Export => self.mode = Mode::Export(String::new()),
            Action::Delete => self.ask_to_delete(),
            Action::Pager => return self.open(Program::Pager),
            Action::Editor => return self.open(Program::Editor),
            Action::Shell => return self.open(Program::Shell),
            Action::Again => self.again(self.view.directory),
            Action::Info => self.mode = self.view.entry().map_or(Mode::List, Mode::Info),
            Action::Messages if self.scanner.messages.count.load(Relaxed) == 0 => {
                self.say("everything could be read")
            }
            Action::Messages => self.mode = Mode::Messages(0),
            Action::Help => self.mode = Mode::Help(0),
            Action::Suspend => return Next::Suspend,
            Action::Quit => return Next::Quit,
            Action::QuitAndPrint => return Next::QuitAndPrint,
        }
        Next::Stay
    }

    fn say(&mut self, text: &str) {
        text.clone_into(&mut self.message);
    }

    fn mouse(&mut self, mouse: &MouseEvent) -> Next {
        let Mode::List = self.mode else { return Next::Stay };
        match mouse.kind {
            MouseEventKind::ScrollUp => self.view.step(-WHEEL),
            MouseEventKind::ScrollDown => self.view.step(WHEEL),
            MouseEventKind::Down(MouseButton::Left) => {
                let row = usize::from(mouse.row)
                    .checked_sub(self.list_top.into())
                    .filter(|row| *row < self.visible);
                let row = row.map(|row| row + self.view.offset).filter(|row| *row < self.view.rows.len());
                match row {
                    Some(row) if row == self.view.selected => self.enter(),
                    Some(row) => self.view.go(row),
                    None => {}
                }
            }
            MouseEventKind::Down(MouseButton::Right) => self.leave(),
            _ => {}
        }
        Next::Stay
    }

    fn sort(&mut self, key: Key) {
        self.view.sort(key, &self.scanner.shared.lock());
    }

    fn toggle(&mut self, which: impl Fn(&mut View) -> &mut bool) {
        let on = which(&mut self.view);
        *on = !*on;
        self.view.arrange(&self.scanner.shared.lock());
    }

    fn enter(&mut self) {
        let tree = self.scanner.shared.lock();
        if let Some(entry) = self.view.entry().filter(|entry| tree.node(*entry).is_dir()) {
            self.view.enter(entry, None, &tree);
        }
    }

    /// Shows the directory above, except above the only operand.
    fn leave(&mut self) {
        let tree = self.scanner.shared.lock();
        let from = self.view.directory;
        let above =
            tree.above(from).filter(|above| *above != Id::TOP || tree.children(Id::TOP).nth(1).is_some());
        if let Some(above) = above {
            self.view.enter(above, Some(from), &tree);
        }
    }

    fn type_filter(&mut self, key: &KeyEvent) {
        match key.code {
            KeyCode::Esc => {
                self.view.filter.clear();
                self.mode = Mode::List;
            }
            KeyCode::Enter => self.mode = Mode::List,
            KeyCode::Backspace => drop(self.view.filter.pop()),
            KeyCode::Up => return self.view.step(-1),
            KeyCode::Down => return self.view.step(1),
            KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.view.filter.push(letter)
            }
            _ => self.mode = Mode::List,
        }
        self.view.arrange(&self.scanner.shared.lock());
    }

    fn type_export(&mut self, key: &KeyEvent) {
        let Mode::Export(name) = &mut self.mode else { return };
        match key.code {
            KeyCode::Enter => {
                let name = std::mem::take(name);
                self.mode = Mode::List;
                self.message = self.export(Path::new(&name)).unwrap_or_else(|why| why);
            }
            KeyCode::Backspace => drop(name.pop()),
            KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::CONTROL) => name.push(letter),
            _ => self.mode = Mode::List,
        }
    }

    /// Writes the paths of the marks to a new file, in the order of the tree. Returns what to tell the user.
    fn export(&self, file: &Path) -> Result<String, String> {
        let mut paths: Vec<Vec<u8>> = {
            let tree = self.scanner.shared.lock();
            self.view.marks.iter().map(|id| tree.path(*id)).collect()
        };
        paths.sort_by(|a, b| dents_commands::inode::path_order(a, b));
        if !self.setting.null && paths.iter().any(|path| path.contains(&b'\n')) {
            return Err("a path has a newline: start with -0 to end paths with NUL".to_owned());
        }
        let end = if self.setting.null { b'\0' } else { b'\n' };
        let text: Vec<u8> = paths.iter().flat_map(|path| path.iter().copied().chain([end])).collect();
        // An existing file may be anything: it is not replaced.
        let written = OpenOptions::new().write(true).create_new(true).open(file).and_then(|mut out| {
            out.write_all(&text)?;
            out.sync_all()
        });
        let name = message::quoted_text(file.as_os_str().as_bytes());
        match written {
            Ok(()) => Ok(format!("{} in {name}", message::counted(paths.len() as u64, "path", "paths"))),
            Err(error) => {
                Err(format!("cannot write {name}: {}; E asks for another name", message::plain(&error)))
            }
        }
    }

    fn ask_to_delete(&mut self) {
        if !self.setting.is_live {
            return self.say("nothing is deleted while a scan file is shown");
        }
        if !self.setting.may_delete {
            return self.say("nothing is deleted: start with --delete to allow it");
        }
        let question = Question::new(self);
        if question.targets.is_empty() {
            self.say("nothing is selected that could be deleted");
        } else {
            self.mode = Mode::Confirm(question);
        }
    }

    fn delete(&mut self, question: Question) {
        let progress = Arc::new(DeletionProgress::default());
        let messages = Arc::clone(&self.scanner.messages);
        let shown = Arc::clone(&progress);
        let work = move || {
            let Question { targets, counted, .. } = question;
            let delete = |target: &Target| {
                (target.id, delete::delete(target, &counted, &shown, &mut |text| messages.add(text)))
            };
            targets.iter().map(delete).collect()
        };
        match std::thread::Builder::new().name("delete".to_owned()).spawn(work) {
            Ok(thread) => self.mode = Mode::Deleting(Deletion { progress, thread: Some(thread) }),
            Err(error) => self.message = format!("cannot start a thread: {}", message::plain(&error)),
        }
    }

    /// Removes deleted entries from the tree. What is left of a directory is scanned again.
    fn end_deletion(&mut self) {
        let Mode::Deleting(Deletion { progress, thread }) = &mut self.mode else { return };
        let Some(ended) = thread.take_if(|thread| thread.is_finished()) else { return };
        let (deleted, met_new) = (progress.deleted.load(Relaxed), progress.met_new.load(Relaxed));
        let all = ended.join().unwrap_or_default();
        let mut tree = self.scanner.shared.lock();
        let mut left = Vec::new();
        for (id, is_gone) in all.into_iter().filter(|(id, _)| tree.is_attached(*id)).collect::<Vec<_>>() {
            match is_gone {
                true => tree.remove(id),
                false if tree.node(id).is_dir() => left.push(id),
                false => {}
            }
        }
        self.view.forget_removed(&tree);
        drop(tree);
        let entries = message::counted(deleted, "entry", "entries");
        self.message = match left.is_empty() && self.scanner.messages.count.load(Relaxed) == 0 {
            true => format!("deleted {entries}"),
            false if met_new => format!("deleted {entries}; what is new stays: d asks again, ! shows where"),
            false => format!("deleted {entries}; ! shows what could not be done"),
        };
        left.into_iter().for_each(|id| self.again(id));
        self.mode = Mode::List;
        self.due = Instant::now();
        self.is_stale = true;
    }

    /// Scans a directory again.
    fn again(&mut self, id: Id) {
        if !self.setting.is_live {
            return self.say("a scan file is read once");
        }
        let mut tree = self.scanner.shared.lock();
        let Some(above) = tree.above(id) else { return };
        let (name, path) = (tree.name(id).to_vec(), tree.path(id));
        let Ok(path) = CString::new(path) else { return };
        tree.remove(id);
        let new = tree.directory(above, &name);
        self.view.forget_removed(&tree);
        if self.view.directory == id {
            self.view.enter(new, None, &tree);
        }
        drop(tree);
        self.scanner.expect();
        // The scanner receives until the browser ends.
        let _ = self.requests.send(Again { root: Root::Again(above, name), path });
    }

    fn open(&mut self, program: Program) -> Next {
        if !self.setting.is_live {
            self.say("a scan file has names and sizes alone: nothing can be opened");
            return Next::Stay;
        }
        let tree = self.scanner.shared.lock();
        let directory = self.view.directory;
        let (id, is_right) = match program {
            Program::Shell => (Some(directory), directory != Id::TOP),
            _ => (self.view.entry(), self.view.entry().is_some_and(|id| tree.node(id).kind == Kind::Reg)),
        };
        let path = id.filter(|_| is_right).map(|id| tree.path(id));
        drop(tree);
        match path {
            Some(path) => Next::Run(program, path),
            None => {
                self.say("select a regular file");
                Next::Stay
            }
        }
    }
}

fn is_control_c(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
