//! The one place that writes.
//!
//! Lines gather in one buffer that leaves in large pieces. A message on stderr first lets out what stands in
//! the buffer, so that the two streams keep their order where they end in one place (`2>&1`). The first error of
//! writing is remembered and reported at the end, once; what follows it is thrown away.

use crate::errno;
use alloc::vec::Vec;
use dents_render::Sink;
use dents_sys::Errno;

/// The two streams of a process, or what a test puts in their place.
pub trait Streams {
    /// Writes to stdout, as much as it takes at once.
    ///
    /// # Errors
    /// What `write` gives.
    fn stdout(&mut self, bytes: &[u8]) -> Result<usize, Errno>;

    /// Writes to stderr; nobody can be told if that fails.
    fn stderr(&mut self, bytes: &[u8]);

    /// The width of the terminal that stdout is; `None` if it is none, 0 if it does not know its width.
    fn terminal(&mut self) -> Option<u16>;
}

/// A buffer this large is written: a pipe takes 64 KiB at a time, and 10,000 lines of `-l` are a handful of
/// these.
const FULL: usize = 128 * 1024;

/// Stdout behind a buffer, and stderr.
pub struct Output<'a> {
    streams: &'a mut dyn Streams,
    buffer: Vec<u8>,
    failed: Option<Errno>,
    clock: Option<fn() -> u64>,
    written_ns: u64,
    /// Bytes that have left the buffer.
    gone: u64,
}

impl<'a> Output<'a> {
    /// With `clock`, the time spent writing is taken.
    pub fn new(streams: &'a mut dyn Streams) -> Self {
        Output { streams, buffer: Vec::new(), failed: None, clock: None, written_ns: 0, gone: 0 }
    }

    /// Takes the time of writing from now on.
    pub fn time_with(&mut self, clock: fn() -> u64) {
        self.clock = Some(clock);
    }

    /// Nanoseconds spent in `write` so far.
    #[must_use]
    pub fn written_ns(&self) -> u64 {
        self.written_ns
    }

    /// See [`Streams::terminal`].
    pub fn terminal(&mut self) -> Option<u16> {
        self.streams.terminal()
    }

    /// Writes out what stands in the buffer.
    pub fn flush(&mut self) {
        let started = self.clock.map_or(0, |clock| clock());
        let mut rest = &self.buffer[..];
        while !rest.is_empty() && self.failed.is_none() {
            match self.streams.stdout(rest) {
                Ok(written) => rest = &rest[written..],
                Err(errno) => self.failed = Some(errno),
            }
        }
        self.gone += self.buffer.len() as u64;
        self.buffer.clear();
        self.written_ns += self.clock.map_or(0, |clock| clock()) - started;
    }

    /// Writes a message to stderr, after what was said before it.
    pub fn message(&mut self, text: &[u8]) {
        self.flush();
        self.streams.stderr(text);
    }

    /// Writes out the rest. The error is that of the first failed write.
    ///
    /// # Errors
    /// What `write` gave.
    pub fn finish(&mut self) -> Result<(), Errno> {
        self.flush();
        self.failed.map_or(Ok(()), Err)
    }
}

impl Sink for Output<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn position(&self) -> u64 {
        self.gone + self.buffer.len() as u64
    }

    fn checkpoint(&mut self) {
        if self.buffer.len() >= FULL {
            self.flush();
        }
    }
}

/// Puts together a message: `dls: cannot access 'x': No such file or directory`.
pub struct Message(Vec<u8>);

impl Message {
    /// Begins with the program's name and a colon.
    #[must_use]
    pub fn new(program: &[u8]) -> Message {
        let mut text = program.to_vec();
        text.extend_from_slice(b": ");
        Message(text)
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl AsRef<[u8]>) -> Message {
        self.0.extend_from_slice(text.as_ref());
        self
    }

    /// Adds a colon and what the error is called.
    #[must_use]
    pub fn errno(self, errno: Errno) -> Message {
        self.text(": ").text(errno::message(errno))
    }

    /// Ends the line and sends it.
    pub fn send(mut self, out: &mut Output<'_>) {
        self.0.push(b'\n');
        out.message(&self.0);
    }
}
