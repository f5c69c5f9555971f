//! Messages on stderr as data: plans and options make them, `output.rs` sends them.

use crate::locale::{Domain, Language};
use alloc::vec::Vec;
use dents_sys::Errno;

/// The parts of a message: `dls: cannot access 'x': No such file or directory`. It is translated when it is sent.
pub struct Message(Vec<Part>);

enum Part {
    /// As it is.
    Text(Vec<u8>),
    /// A message of coreutils and its arguments.
    Format(&'static str, Vec<Vec<u8>>),
    Errno(Errno),
}

impl Message {
    /// A message that begins with a colon after the program's name, of which the last component is shown.
    #[must_use]
    pub fn new(program: &[u8]) -> Message {
        Message(Vec::new()).text(crate::program::base(program)).text(": ")
    }

    /// Adds text that is not translated.
    #[must_use]
    pub fn text(mut self, text: impl AsRef<[u8]>) -> Message {
        self.0.push(Part::Text(text.as_ref().to_vec()));
        self
    }

    /// Appends a message of GNU `ls`, whose translation the catalogs find by its text; the arguments replace its `%s`.
    #[must_use]
    pub fn format(mut self, id: &'static str, arguments: &[&[u8]]) -> Message {
        self.0.push(Part::Format(id, arguments.iter().map(|argument| argument.to_vec()).collect()));
        self
    }

    /// Appends a colon and the text of the error.
    #[must_use]
    pub fn errno(mut self, errno: Errno) -> Message {
        self.0.push(Part::Errno(errno));
        self
    }

    /// The line, in a language.
    #[must_use]
    pub fn line(self, language: &Language) -> Vec<u8> {
        let mut line = Vec::new();
        for part in self.0 {
            match part {
                Part::Text(text) => line.extend(text),
                Part::Format(id, arguments) => {
                    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                    line.extend(language.format(Domain::Coreutils, id, &arguments));
                }
                Part::Errno(errno) => {
                    line.extend_from_slice(b": ");
                    line.extend(language.errno(errno));
                }
            }
        }
        line.push(b'\n');
        line
    }
}
