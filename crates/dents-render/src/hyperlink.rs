//! `--hyperlink`: names as links for the terminal, to `file://` URIs (OSC 8; RFC 8089).
//!
//! ```text
//! ESC ]8;;file://HOST/PATH ESC \  name  ESC ]8;; ESC \
//! ```
//!
//! Paths are absolute and contain no symbolic link. To find them takes system calls, so the caller passes them in, as
//! [`Places`].

use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::Entry;

/// The paths of the entries of a batch.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The absolute path of their directory. An entry that is not in `others` is there under its name.
    pub directory: Vec<u8>,
    /// Entries that have another path (symbolic links, `.`, `..`, operands): position in the batch, ascending, and
    /// the absolute path; `None` if it is not known.
    pub others: Vec<(u32, Option<Vec<u8>>)>,
}

/// Writes links.
#[derive(Clone)]
pub(crate) struct Links {
    /// `ESC ]8;;file://HOST`.
    start: Vec<u8>,
    /// The directory's path as part of a URI.
    directory: Vec<u8>,
    places: Option<Arc<Places>>,
}

/// ST, the string terminator, ends each sequence.
const ST: &[u8] = b"\x1b\\";

const END: &[u8] = b"\x1b]8;;\x1b\\";

impl Links {
    pub(crate) fn new(host: &[u8]) -> Links {
        let mut start = b"\x1b]8;;file://".to_vec();
        escape(host, false, &mut start);
        Links { start, directory: Vec::new(), places: None }
    }

    /// Where the entries of the next frame are.
    pub(crate) fn set_places(&mut self, places: Option<&Arc<Places>>) {
        self.directory.clear();
        if let Some(places) = places {
            escape(&places.directory, true, &mut self.directory);
        }
        self.places = places.cloned();
    }

    /// Begins a link to an absolute path.
    pub(crate) fn begin(&self, path: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start);
        escape(path, true, out);
        out.extend_from_slice(ST);
    }

    /// Begins a link to an entry. Returns false if the path of the entry is not known.
    pub(crate) fn begin_entry(&self, entry: &Entry<'_>, out: &mut Vec<u8>) -> bool {
        let index = entry.index() as u32;
        let others = self.places.as_ref().map_or(&[][..], |places| &places.others);
        if self.directory.is_empty() && others.is_empty() {
            return false;
        }
        if let Ok(at) = others.binary_search_by_key(&index, |(index, _)| *index) {
            let path = others[at].1.as_deref();
            path.iter().for_each(|path| self.begin(path, out));
            return path.is_some();
        }
        out.extend_from_slice(&self.start);
        out.extend_from_slice(&self.directory);
        if !self.directory.ends_with(b"/") {
            out.push(b'/');
        }
        escape(entry.name(), false, out);
        out.extend_from_slice(ST);
        true
    }

    pub(crate) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(END);
    }
}

/// Percent-encodes all but the unreserved characters (RFC 3986, 2.3), and in a path the slash.
fn escape(text: &[u8], path: bool, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in text {
        match byte {
            b'-' | b'.' | b'_' | b'~' => out.push(byte),
            b'/' if path => out.push(byte),
            _ if byte.is_ascii_alphanumeric() => out.push(byte),
            _ => out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_core::batch::Batch;
    use dents_core::needs::{Kind, NeedsByKind};
    use std::string::String;

    #[test]
    fn paths_become_uris() {
        let mut links = Links::new(b"my host");
        let places = Places {
            directory: b"/a b".to_vec(),
            others: [(1, Some(b"/c/\xff".to_vec())), (2, None)].to_vec(),
        };
        links.set_places(Some(&Arc::new(places)));
        let mut batch = Batch::new(NeedsByKind::default());
        for name in [c"x%~", c"link", c"nowhere"] {
            batch.push(name, Kind::Reg, 0);
        }
        let shown: Vec<(bool, String)> = batch
            .iter()
            .map(|entry| {
                let mut out = Vec::new();
                (links.begin_entry(&entry, &mut out), String::from_utf8(out).unwrap())
            })
            .collect();
        let expected = [
            (true, "\x1b]8;;file://my%20host/a%20b/x%25~\x1b\\"),
            (true, "\x1b]8;;file://my%20host/c/%ff\x1b\\"),
            (false, ""),
        ];
        assert_eq!(shown, expected.map(|(told, text)| (told, text.into())));
        links.set_places(Some(&Arc::new(Places { directory: b"/".to_vec(), ..Places::default() })));
        let mut out = Vec::new();
        links.begin_entry(&batch.entry(0), &mut out);
        assert!(out.ends_with(b"host/x%25~\x1b\\") && !out.ends_with(b"//x%25~\x1b\\"));
    }
}
