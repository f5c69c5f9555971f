//! The one place that writes.
//!
//! Lines are collected in one buffer and written in large pieces. A message on stderr first flushes the buffer, so
//! that the two streams keep their order if they have one destination (`2>&1`). The first error of a write is kept and
//! reported once, at the end; later output is dropped.

use crate::locale::Language;
use crate::message::Message;
use crate::progress::Progress;
use crate::turn::{State, TURN};
use alloc::vec::Vec;
use dents_render::Sink;
use dents_sys::Errno;

/// The two streams of a process, or a replacement in tests.
pub trait Streams {
    /// Writes to stdout, as many bytes as one call takes.
    ///
    /// # Errors
    /// Those of `write`.
    fn stdout(&mut self, bytes: &[u8]) -> Result<usize, Errno>;

    /// Writes all bytes to stderr.
    ///
    /// # Errors
    /// Those of `write`; they change the exit status.
    fn stderr(&mut self, bytes: &[u8]) -> Result<(), Errno>;

    /// Colours will be written to the terminal: from now on other threads must not take the signals of
    /// [`hold_signals`](Self::hold_signals).
    fn keep_signals_here(&mut self) {}

    /// Holds back the signals that could end or stop the program, or lets them come. Without it they come any time.
    fn hold_signals(&mut self, hold: bool) {
        let _ = hold;
    }

    /// Whether a signal that is held back has come.
    fn signal_came(&mut self) -> bool {
        false
    }

    /// Closes stdout.
    ///
    /// # Errors
    /// Those of `close`: a server may refuse only now what `write` took.
    fn close_stdout(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// The width of the terminal that stdout is; `None` if it is none, 0 if it does not know its width.
    fn terminal(&mut self) -> Option<u16>;
}

/// A buffer this large is written: a pipe takes 64 KiB at a time, and 10,000 lines of `-l` are a handful of
/// these.
const FULL: usize = 128 * 1024;

/// On a terminal in colour this much is written at a time, so that an interrupt is not kept waiting by a slow one.
const PIECE: usize = 4096;

/// Stdout behind a buffer, and stderr.
pub struct Output<'a> {
    streams: &'a mut dyn Streams,
    buffer: Vec<u8>,
    failed: Option<Errno>,
    /// The language of messages.
    language: Language,
    /// Whether a message could not be written to stderr.
    unsaid: bool,
    clock: Option<fn() -> u64>,
    written_ns: u64,
    /// Bytes that have left the buffer.
    gone: u64,
    /// If a terminal gets colours: the bytes that reset the colour.
    uncolor: Option<Vec<u8>>,
    /// The line of progress, which must be removed before anything is written.
    progress: Option<&'static Progress>,
    /// The width of the terminal, once it was asked for.
    terminal: Option<Option<u16>>,
}

impl<'a> Output<'a> {
    /// With `clock`, the time spent writing is taken.
    pub fn new(streams: &'a mut dyn Streams) -> Self {
        Output {
            streams,
            buffer: Vec::new(),
            failed: None,
            language: Language::default(),
            unsaid: false,
            clock: None,
            written_ns: 0,
            gone: 0,
            uncolor: None,
            progress: None,
            terminal: None,
        }
    }

    /// From now on messages are in this language.
    pub fn set_language(&mut self, language: Language) {
        self.language = language;
    }

    /// The language of messages.
    #[must_use]
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// Takes the time of writing from now on.
    pub fn time_with(&mut self, clock: fn() -> u64) {
        self.clock = Some(clock);
    }

    /// From now on no signal may leave the terminal in some colour; `uncolor` takes any off. Costs three system
    /// calls, of 0.1 µs each, beside each `write`, and two each time threads are started.
    pub fn guard_colors(&mut self, uncolor: Vec<u8>) {
        self.streams.keep_signals_here();
        self.uncolor = Some(uncolor);
    }

    /// The thread that draws a line of progress on stderr's terminal while the lister writes nothing.
    pub fn set_progress(&mut self, progress: Option<&'static Progress>) {
        self.progress = progress;
    }

    /// The line of progress, if it is drawn.
    #[must_use]
    pub fn progress(&self) -> Option<&'static Progress> {
        self.progress
    }

    /// Nanoseconds spent in `write` so far.
    #[must_use]
    pub fn written_ns(&self) -> u64 {
        self.written_ns
    }

    /// See [`Streams::terminal`], which is asked once.
    pub fn terminal(&mut self) -> Option<u16> {
        *self.terminal.get_or_insert_with(|| self.streams.terminal())
    }

    /// Called before the lister waits: flushes the buffer to a terminal. A pipe gets it too if the wait may be long
    /// (`far`), except for a small rest, less than stdio would hold back.
    pub fn let_out(&mut self, far: bool) {
        if self.terminal().is_some() || (far && self.holds_much()) {
            self.flush();
        }
    }

    /// Whether the buffer has more bytes than stdio would hold back.
    pub fn holds_much(&self) -> bool {
        const LITTLE: usize = 4096;
        self.buffer.len() >= LITTLE
    }

    /// Whether the buffer has bytes.
    pub fn holds_any(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Writes the buffer.
    pub fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let mut buffer = core::mem::take(&mut self.buffer);
        self.send(&buffer);
        buffer.clear();
        self.buffer = buffer;
    }

    fn send(&mut self, bytes: &[u8]) {
        let started = self.clock.map_or(0, |clock| clock());
        self.begin();
        if let Some(progress) = self.progress {
            progress.wrote(bytes.last());
        }
        let result = match &self.uncolor {
            _ if self.failed.is_some() => Ok(()),
            None => write_all(self.streams, bytes),
            Some(uncolor) => write_guarded(self.streams, bytes, uncolor),
        };
        TURN.change(|_| State::Busy);
        self.failed = self.failed.or(result.err());
        self.gone += bytes.len() as u64;
        self.written_ns += self.clock.map_or(0, |clock| clock()) - started;
    }

    /// From here on the lister writes, and no other thread may.
    fn begin(&self) {
        if let Some(progress) = self.progress {
            progress.set_waiting(false);
        }
        TURN.change(|_| State::Writing);
    }

    /// Writes a message to stderr, after all earlier output.
    pub fn message(&mut self, text: &[u8]) {
        self.flush();
        self.begin();
        self.unsaid |= self.streams.stderr(text).is_err();
        TURN.change(|_| State::Busy);
    }

    /// Whether a message was lost because stderr cannot be written, which is as serious as lost output.
    #[must_use]
    pub fn lost_a_message(&self) -> bool {
        self.unsaid
    }

    /// Writes the rest of the buffer, and closes stdout if anything was written. Returns the first error.
    ///
    /// # Errors
    /// Those of `write` and `close`.
    pub fn finish(&mut self) -> Result<(), Errno> {
        self.flush();
        self.failed.map_or(Ok(()), Err)?;
        if self.gone > 0 { self.streams.close_stdout() } else { Ok(()) }
    }
}

fn write_all(streams: &mut dyn Streams, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = streams.stdout(bytes)?;
        if written == 0 {
            // A `write` that takes no byte would repeat for ever. GNU reports it as a full device.
            return Err(Errno::NOSPC);
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Writes a few whole lines at a time. Each ends without a colour, so signals are held back no longer than that.
fn write_guarded(streams: &mut dyn Streams, mut bytes: &[u8], uncolor: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let (lines, rest) = bytes.split_at(whole_lines(bytes));
        bytes = rest;
        streams.hold_signals(true);
        let mut result = write_all(streams, lines);
        if streams.signal_came() {
            result = result.and(write_all(streams, uncolor));
        }
        streams.hold_signals(false);
        result?;
    }
    Ok(())
}

/// How many bytes make whole lines: as many as fit into [`PIECE`], but at least one.
fn whole_lines(bytes: &[u8]) -> usize {
    let newline = |byte: &u8| *byte == b'\n';
    let piece = bytes.len().min(PIECE);
    let last = bytes[..piece].iter().rposition(newline);
    let end = last.or_else(|| bytes[piece..].iter().position(newline).map(|at| piece + at));
    end.map_or(bytes.len(), |at| at + 1)
}

impl Sink for Output<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn position(&self) -> u64 {
        self.gone + self.buffer.len() as u64
    }

    /// A large text is written from where it is, without a copy.
    fn append(&mut self, bytes: &[u8]) {
        if bytes.len() < FULL {
            self.buffer.extend_from_slice(bytes);
            return self.checkpoint();
        }
        self.flush();
        self.send(bytes);
    }

    fn checkpoint(&mut self) {
        if self.buffer.len() >= FULL {
            self.flush();
        }
    }
}

impl Message {
    /// Ends the line and sends it.
    pub fn send(self, out: &mut Output<'_>) {
        let line = self.line(&out.language);
        out.message(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    /// Records the calls; a write that contains an `!` raises a signal.
    #[derive(Default)]
    struct Notes {
        log: String,
        came: bool,
    }

    impl Streams for Notes {
        fn stdout(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
            let taken = &bytes[..bytes.len().min(3000)];
            self.came |= taken.contains(&b'!');
            self.log += &std::format!("write {}\n", taken.len());
            Ok(taken.len())
        }

        fn stderr(&mut self, _: &[u8]) -> Result<(), Errno> {
            Ok(())
        }

        fn hold_signals(&mut self, hold: bool) {
            self.log += if hold { "hold\n" } else { "release\n" };
            self.came &= hold;
        }

        fn signal_came(&mut self) -> bool {
            self.came
        }

        fn terminal(&mut self) -> Option<u16> {
            Some(80)
        }
    }

    #[test]
    fn without_colours_nothing_is_held() {
        let mut notes = Notes::default();
        let mut out = Output::new(&mut notes);
        out.buffer().extend_from_slice(&[b'x'; 5000]);
        assert_eq!(out.position(), 5000);
        out.flush();
        out.buffer().push(b'y');
        assert_eq!(out.position(), 5001);
        assert_eq!(notes.log, "write 3000\nwrite 2000\n");
    }

    /// Errors and results that a file system in user space can return for a write.
    struct Nothing(u32);

    impl Streams for Nothing {
        fn stdout(&mut self, _: &[u8]) -> Result<usize, Errno> {
            self.0 += 1;
            assert!(self.0 < 10, "asked again and again");
            Ok(0)
        }

        fn stderr(&mut self, _: &[u8]) -> Result<(), Errno> {
            Ok(())
        }

        fn terminal(&mut self) -> Option<u16> {
            None
        }
    }

    #[test]
    fn a_write_of_nothing_is_an_error() {
        let mut nothing = Nothing(0);
        let mut out = Output::new(&mut nothing);
        out.buffer().push(b'x');
        assert_eq!(out.finish(), Err(Errno::NOSPC));
        let mut nothing = Nothing(0);
        let mut out = Output::new(&mut nothing);
        out.guard_colors(Vec::new());
        out.buffer().push(b'x');
        assert_eq!(out.finish(), Err(Errno::NOSPC));
    }

    #[test]
    fn nothing_is_held_back_from_a_terminal() {
        let mut notes = Notes::default();
        let mut out = Output::new(&mut notes);
        out.buffer().push(b'x');
        out.let_out(false);
        out.let_out(true);
        assert_eq!(notes.log, "write 1\n");
    }

    #[test]
    fn colours_go_out_by_lines_and_come_off_at_a_signal() {
        let mut notes = Notes::default();
        let mut out = Output::new(&mut notes);
        out.guard_colors(b"\x1b[m".to_vec());
        for line in [&[b'a'; 4000][..], b"\n", b"b\n", &[b'c'; 5000], b"\n", b"d!\n", b"e"] {
            out.buffer().extend_from_slice(line);
        }
        out.flush();
        let expected = [
            "hold write 3000 write 1003 release",
            "hold write 3000 write 2001 release",
            "hold write 3 write 3 release",
            "hold write 1 release",
        ];
        let seen: Vec<&str> = notes.log.lines().collect();
        assert_eq!(seen.join(" "), expected.join(" "));
    }
}
