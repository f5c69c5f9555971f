//! The plan of a scan in parts, and how errors of its directory are reported.

use super::words::{self, Which};
use crate::message;
use crate::session::{Session, Status};
use clap::ArgMatches;
use dents_sink::parts::{Plan, Trees};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;

/// Reports an error: with status 2 one of the command line.
pub(crate) fn failed(error: &io::Error, session: &Session) -> Status {
    session.say(message::plain(error).as_bytes());
    if error.kind() == ErrorKind::InvalidInput { Status::WRONG } else { Status::FAILURE }
}

/// The plan of a scan with these options and roots.
pub(crate) fn plan(matches: &ArgMatches, roots: &[OsString]) -> io::Result<Plan> {
    let wrong = |text: String| io::Error::new(ErrorKind::InvalidInput, text);
    words::refuse(matches).map_err(wrong)?;
    let roots: Vec<Vec<u8>> = roots.iter().map(|root| root.clone().into_vec()).collect();
    let trimmed = |root: &[u8]| {
        let end = root.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        root[..end].to_vec()
    };
    for (nth, root) in roots.iter().enumerate() {
        if root.is_empty() {
            return Err(wrong("a ROOT cannot be empty".to_owned()));
        }
        if roots[..nth].iter().any(|other| trimmed(other) == trimmed(root)) {
            return Err(wrong(format!("{} is given twice", message::quoted_text(root))));
        }
    }
    let cwd = std::env::current_dir()?;
    let (options, trees) = (words::words(matches, Which::Plan), Trees::of(&roots));
    Ok(Plan { options, roots, trees, cwd, begun: dents_sink::time::now() })
}
