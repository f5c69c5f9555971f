//! The tree against a plain computation, frames at three sizes, keys, and what is deleted.

mod deletion;
mod drawing;
mod sums;

use super::app::{App, Setting};
use super::names::Names;
use super::owners::Owners;
use super::scanner::{Again, Scanner};
use super::tree::{Fresh, Id, Known, Tree};
use dents_commands::inode::Inode;
use dents_commands::output::Screen;
use dents_core::needs::Kind;
use dents_locale::Locale;
use dents_render::human::SizeFormat;
use dents_render::{Colors, Icons};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use std::sync::mpsc::{self, Receiver};

/// The device of the entries here.
const DEV: (u32, u32) = (8, 1);

fn known(ino: u64, size: u64) -> Known {
    let inode = Inode { dev: DEV, ino };
    Known {
        inode,
        nlink: 1,
        size,
        allocated: size.next_multiple_of(4096),
        mtime: 1_700_000_000,
        owners: Owners { uid: 1, gid: 2 },
        mode: 0o100_644,
    }
}

fn directory(name: &'static str, ino: u64) -> Fresh<'static> {
    let facts = Known { allocated: 4096, mode: 0o040_755, ..known(ino, 0) };
    Fresh { name: name.as_bytes(), kind: Kind::Dir, facts: Some(facts) }
}

fn file(name: &'static str, ino: u64, size: u64) -> Fresh<'static> {
    Fresh { name: name.as_bytes(), kind: Kind::Reg, facts: Some(known(ino, size)) }
}

fn find(tree: &Tree, path: &str) -> Id {
    let step =
        |at: Id, name: &str| tree.children(at).find(|id| tree.name(*id) == name.as_bytes()).expect(name);
    path.split('/').fold(Id::TOP, step)
}

const SETTING: Setting = Setting {
    may_delete: false,
    is_live: true,
    has_one_root: true,
    null: false,
    apparent: false,
    units: SizeFormat::HUMAN,
};

/// A browser of a small tree, which nothing scans.
fn app(scanner: &Scanner, setting: Setting) -> (App<'_>, Receiver<Again>) {
    let (requests, received) = mpsc::channel();
    let names = Names::new(Screen::new(Some(80), false, &Locale::C_UTF8), None, None);
    (App::new(scanner, setting, names, requests), received)
}

fn colored(scanner: &Scanner) -> App<'_> {
    let mut icons = Icons::default();
    icons.add(b"fi=F:di=D").expect("two types");
    let names =
        Names::new(Screen::new(Some(80), true, &Locale::C_UTF8), Some(Colors::builtin()), Some(icons));
    App::new(scanner, SETTING, names, mpsc::channel().0)
}

/// What a screen of this size shows.
fn screen(app: &mut App<'_>, columns: u16, rows: u16) -> Vec<String> {
    app.tick();
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("memory");
    terminal.draw(|frame| super::draw::draw(frame, app)).expect("memory");
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(columns.into());
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
}

fn press(app: &mut App<'_>, keys: &str) -> super::app::Next {
    let mut next = super::app::Next::Stay;
    for letter in keys.chars() {
        let code = match letter {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            letter => KeyCode::Char(letter),
        };
        next = app.event(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }
    next
}
