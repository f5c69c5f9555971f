//! The terminal: taken at the beginning, and given back in every case, also after a panic of any thread.

use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use std::io::{self, stdout};
use std::panic;
use std::process;
use std::sync::Once;

/// The terminal in raw mode, with its second screen and reports of the mouse.
pub(super) struct Terminal(DefaultTerminal);

/// The status after a panic, as Rust has it.
const PANIC: i32 = 101;

impl Terminal {
    /// # Errors
    /// Standard output is not a terminal, or it is gone.
    pub(super) fn take() -> io::Result<Terminal> {
        static HOOK: Once = Once::new();
        // Before that of `try_init`, which only gives the terminal back: a panic of a worker would leave the others drawing on.
        HOOK.call_once(|| {
            let say = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                say(panic);
                process::exit(PANIC);
            }));
        });
        Ok(Terminal(init()?))
    }

    /// The terminal to draw on.
    pub(super) fn canvas(&mut self) -> &mut DefaultTerminal {
        &mut self.0
    }

    /// Gives the terminal back while something else uses it.
    pub(super) fn lend<R>(&mut self, act: impl FnOnce() -> R) -> io::Result<R> {
        give_back();
        let result = act();
        self.0 = init()?;
        self.0.clear()?;
        Ok(result)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn init() -> io::Result<DefaultTerminal> {
    let terminal = ratatui::try_init()?;
    execute!(stdout(), EnableMouseCapture)?;
    Ok(terminal)
}

fn give_back() {
    let _ = execute!(stdout(), DisableMouseCapture, Show);
    ratatui::restore();
}
