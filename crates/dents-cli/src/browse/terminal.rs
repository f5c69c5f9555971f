//! The terminal: taken at the beginning, and given back in every case, also after a panic of any thread.
//!
//! | end | how the terminal is given back |
//! |---|---|
//! | a key, an error | [`Terminal`] is dropped |
//! | a panic | the hook |
//! | a signal | its handler ([`dents_sys::fatal`]) |
//! | the terminal is gone | a thread notices, and ends the program: there is nothing to give back |

use dents_sys::stdio::{STDIN, STDOUT};
use dents_sys::{fatal, tty};
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::{Rect, Size};
use ratatui::prelude::CrosstermBackend;
use ratatui::{DefaultTerminal, TerminalOptions, Viewport};
use std::io::{self, stdout};
use std::panic;
use std::sync::Once;
use std::thread;

/// The terminal in raw mode, with its second screen and reports of the mouse.
pub(super) struct Terminal {
    canvas: DefaultTerminal,
    area: Rect,
}

/// The status after a panic, as Rust has it.
const PANIC: u8 = 101;
/// The status after a hang-up: 128 and the number of SIGHUP.
const GONE: u8 = 129;
/// The watch looks so often, in milliseconds; a pseudo-terminal wakes it at once.
const WATCH: u32 = 500;
/// The largest area that is drawn: what a terminal says of its size may be anything, and a cell takes 80 bytes.
const MOST: Size = Size { width: 2000, height: 500 };
/// What [`give_back`] writes, for the handler of signals: mouse, cursor, the first screen.
const SEQUENCES: &[u8] = b"\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[?1049l";

impl Terminal {
    /// # Errors
    /// Standard output is not a terminal, or it is gone.
    pub(super) fn take() -> io::Result<Terminal> {
        static HOOK: Once = Once::new();
        // Any thread ends the program: a panic of a worker would leave the others drawing on.
        HOOK.call_once(|| {
            let say = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                say(panic);
                fatal::exit(PANIC);
            }));
            // Without a thread, the loop ends when it draws.
            let _ = thread::Builder::new().name("terminal".to_owned()).stack_size(64 << 10).spawn(watch);
        });
        let (canvas, area) = init()?;
        Ok(Terminal { canvas, area })
    }

    /// The terminal to draw on, of its present size.
    pub(super) fn canvas(&mut self) -> io::Result<&mut DefaultTerminal> {
        let area = area(self.canvas.size()?);
        if area != self.area {
            self.canvas.resize(area)?;
            self.area = area;
        }
        Ok(&mut self.canvas)
    }

    /// Gives the terminal back while something else uses it.
    pub(super) fn lend<R>(&mut self, act: impl FnOnce() -> R) -> io::Result<R> {
        give_back();
        let result = act();
        (self.canvas, self.area) = init()?;
        self.canvas.resize(self.area)?;
        Ok(result)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn init() -> io::Result<(DefaultTerminal, Rect)> {
    fatal::remember(SEQUENCES)?;
    let (width, height) = ratatui::crossterm::terminal::size()?;
    let area = area(Size { width, height });
    // Not `ratatui::try_init_with_options`: its hook reports an error on stderr, which aborts in a panic if stderr is that terminal and gone.
    enable_raw_mode()?;
    let backend = CrosstermBackend::new(stdout());
    let terminal =
        ratatui::Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Fixed(area) })?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture)?;
    Ok((terminal, area))
}

fn area(size: Size) -> Rect {
    Rect { x: 0, y: 0, width: size.width.min(MOST.width), height: size.height.min(MOST.height) }
}

/// If it is gone, the program ends: whichever thread notices first, the status is the same.
fn give_back() {
    if is_gone_within(0) {
        fatal::exit(GONE);
    }
    let _ = execute!(stdout(), DisableMouseCapture, Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
    fatal::forget();
}

/// Ends the program when the terminal is gone. The library that reads keys reads on for ever then, and SIGHUP may be ignored.
fn watch() {
    while !is_gone_within(WATCH) {}
    fatal::exit(GONE);
}

fn is_gone_within(milliseconds: u32) -> bool {
    tty::is_gone_within(&[STDIN, STDOUT], milliseconds)
}
