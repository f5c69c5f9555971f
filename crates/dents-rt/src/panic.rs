//! The message of a panic.

use core::fmt::{self, Display, Write};
use core::panic::Location;

#[cfg(dents_libc_free)]
use crate::output::Status;

/// The exit status of a program that could not do its work ("serious trouble" in GNU ls).
pub(crate) const TROUBLE: u8 = 2;

/// A line for standard error, truncated at the end of the buffer. It allocates nothing, because memory may be
/// exhausted.
#[derive(Clone)]
pub(crate) struct Line {
    bytes: [u8; 1024],
    length: usize,
}

impl Line {
    /// `<program>: internal error: <message> at <file>:<line>`
    pub(crate) fn of_panic(program: &[u8], message: &dyn Display, location: Option<&Location<'_>>) -> Self {
        let mut line = Self::of_program(program);
        // Writing to a line cannot fail. If the `Display` of a message fails, the line has the part before that.
        let _ = write!(line, "internal error: {message}");
        if let Some(location) = location {
            let _ = write!(line, " at {}:{}", location.file(), location.line());
        }
        line.push(b'\n');
        line
    }

    /// `<program>: memory exhausted`, GNU's words.
    #[cfg(dents_libc_free)]
    pub(crate) fn of_exhaustion(program: &[u8]) -> Self {
        let mut line = Self::of_program(program);
        let _ = line.write_str("memory exhausted");
        line.push(b'\n');
        line
    }

    /// `<program>: the agent process was killed by signal 9: the listing is incomplete`
    #[cfg(dents_libc_free)]
    pub(crate) fn of_agent(program: &[u8], ended: Status) -> Self {
        let mut line = Self::of_program(program);
        let _ = match ended {
            Status::Signaled(signal) => {
                write!(line, "the agent process was killed by signal {signal}")
            }
            Status::Exited(_) | Status::Unknown => line.write_str("the agent process has ended"),
        };
        let _ = line.write_str(": the listing is incomplete");
        line.push(b'\n');
        line
    }

    fn of_program(program: &[u8]) -> Self {
        let mut line = Self { bytes: [0; 1024], length: 0 };
        // argv can be empty. Then the line begins with this name, not with a colon.
        let program = if program.is_empty() { b"dls" } else { program };
        // A long name must leave room for the message.
        program.iter().take(255).for_each(|&byte| line.push(byte));
        let _ = line.write_str(": ");
        line
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The last byte is kept for the line's end.
    fn push(&mut self, byte: u8) {
        if self.length < self.bytes.len() - usize::from(byte != b'\n') {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The message of an assertion has several lines; this makes one of them.
        text.bytes().for_each(|byte| self.push(if byte == b'\n' { b' ' } else { byte }));
        Ok(())
    }
}

#[cfg(dents_libc_free)]
mod handler {
    use super::{Line, TROUBLE};
    use crate::started::{is_agent, program};
    use crate::task::exit;
    use core::cell::UnsafeCell;
    use core::panic::PanicInfo;
    use core::sync::atomic::{AtomicBool, Ordering};

    /// The line of a panic in the agent. The agent has no standard error, so the process that started it writes the
    /// line.
    struct LastWords {
        line: UnsafeCell<Line>,
        said: AtomicBool,
    }

    // SAFETY: one thread writes the line, before it sets `said`; afterwards there are only readers.
    unsafe impl Sync for LastWords {}

    static LAST_WORDS: LastWords = LastWords {
        line: UnsafeCell::new(Line { bytes: [0; 1024], length: 0 }),
        said: AtomicBool::new(false),
    };

    /// The message of the agent, if it ended by a panic.
    pub(crate) fn last_words() -> Option<Line> {
        let said = LAST_WORDS.said.load(Ordering::Acquire);
        // SAFETY: the text is published, and no thread writes to it afterwards.
        said.then(|| unsafe { (*LAST_WORDS.line.get()).clone() })
    }

    /// The panic handler that [`entry!`](crate::entry) installs: one line, one write, status 2. A panic of any thread
    /// ends the process. A panic in the agent ends the agent, and [`last_words`] returns its line.
    #[doc(hidden)]
    pub fn panic(info: &PanicInfo<'_>) -> ! {
        /// One flag for our process, one for the agent, which shares our memory.
        static PANICKING: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
        let is_agent = is_agent();
        // A second panic (while the first message is formatted, or on another thread) prints nothing.
        if !PANICKING[usize::from(is_agent)].swap(true, Ordering::Relaxed) {
            let program = program();
            let mut line = Line::of_panic(program, &info.message(), info.location());
            if crate::allocator::exhausted() && is_about_memory(line.as_bytes(), program) {
                line = Line::of_exhaustion(program);
            }
            if is_agent {
                // SAFETY: only one thread executes this, once, and no thread reads the text before it is published.
                unsafe { *LAST_WORDS.line.get() = line };
                LAST_WORDS.said.store(true, Ordering::Release);
                exit(TROUBLE)
            }
            // SAFETY: only borrows the number 2; if it is closed, the write fails.
            let stderr = unsafe { rustix::stdio::stderr() };
            let _ = rustix::io::write(stderr, line.as_bytes());
        }
        exit(TROUBLE)
    }

    /// Whether the message is Rust's for a failed allocation. There is no stable hook for that.
    fn is_about_memory(line: &[u8], program: &[u8]) -> bool {
        let message = line.get(program.len()..).unwrap_or_default();
        message.starts_with(b": internal error: memory allocation of ")
    }
}

#[cfg(dents_libc_free)]
pub(crate) use handler::last_words;
#[cfg(dents_libc_free)]
pub use handler::panic;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;

    fn text(line: &Line) -> String {
        String::from_utf8(line.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn one_line_whatever_the_message() {
        let here = Location::caller();
        let line = text(&Line::of_panic(b"dls", &"left\n right\n", Some(here)));
        assert_eq!(
            line,
            std::format!("dls: internal error: left  right  at {}:{}\n", here.file(), here.line())
        );
        assert_eq!(text(&Line::of_panic(b"", &"x", None)), "dls: internal error: x\n");
    }

    #[test]
    fn a_long_message_is_cut_but_ends() {
        let line = text(&Line::of_panic(&[b'p'; 5000], &"m".repeat(5000), None));
        assert_eq!(line.len(), 1024);
        assert!(line.starts_with("ppp") && line.ends_with("mmm\n"));
        assert_eq!(line.matches('\n').count(), 1);
    }
}
