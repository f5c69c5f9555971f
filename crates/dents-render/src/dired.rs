//! `-D`: the positions of the names in the output, written at the end of the run. Emacs reads directories in this
//! way.
//!
//! Offsets are bytes of the output from its beginning, without colours: GNU does not count them either.

use crate::number::Text;
use crate::quote::Quoting;
use crate::sink::Sink;
use alloc::vec::Vec;
use core::ops::Range;

/// The beginning of each line.
pub(crate) const INDENT: &[u8] = b"  ";

/// Offsets of the names of entries, and of those of directories before their entries.
#[derive(Debug, Default)]
pub(crate) struct Dired {
    names: Vec<Range<u64>>,
    directories: Vec<Range<u64>>,
    /// Bytes of colour sequences written so far.
    uncounted: u64,
}

impl Dired {
    /// The current position in the output.
    pub(crate) fn offset(&self, out: &impl Sink) -> u64 {
        out.position() - self.uncounted
    }

    /// Leaves bytes out of the count.
    pub(crate) fn uncount(&mut self, bytes: usize) {
        self.uncounted += bytes as u64;
    }

    pub(crate) fn name(&mut self, start: u64, len: usize) {
        self.names.push(start..start + len as u64);
    }

    pub(crate) fn directory(&mut self, start: u64, len: usize) {
        self.directories.push(start..start + len as u64);
    }

    /// The lines at the end.
    pub(crate) fn write(&self, quoting: Quoting, out: &mut Vec<u8>) {
        write_ranges(b"//DIRED//", &self.names, out);
        write_ranges(b"//SUBDIRED//", &self.directories, out);
        out.extend_from_slice(b"//DIRED-OPTIONS// --quoting-style=");
        out.extend_from_slice(quoting.word().as_bytes());
        out.push(b'\n');
    }
}

fn write_ranges(label: &[u8], ranges: &[Range<u64>], out: &mut Vec<u8>) {
    if ranges.is_empty() {
        return;
    }
    out.extend_from_slice(label);
    for offset in ranges.iter().flat_map(|range| [range.start, range.end]) {
        out.push(b' ');
        out.extend_from_slice(Text::number(offset).as_bytes());
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_at_the_end() {
        let mut dired = Dired::default();
        let mut out = b"0123456789".to_vec();
        dired.uncount(4);
        let at = dired.offset(&out);
        dired.name(at, 3);
        dired.name(11, 5);
        out.clear();
        dired.write(Quoting::ShellEscape, &mut out);
        assert_eq!(out, b"//DIRED// 6 9 11 16\n//DIRED-OPTIONS// --quoting-style=shell-escape\n");
    }
}
