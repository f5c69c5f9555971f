//! A run on a terminal: messages go to standard error, results to standard output, and signals stop it.

use crate::stderr::say;
use crate::{interrupt, progress};
use dents_commands::session::{Guard, Host, Message, Progress};
use dents_commands::{Session, Status};
use std::sync::Arc;

/// A run of the program. From now on the first SIGINT, SIGTERM or SIGHUP stops it.
pub(crate) fn session() -> Session {
    Session::program(Terminal, Arc::clone(interrupt::flag()))
}

struct Terminal;

impl Host for Terminal {
    fn message(&self, message: &Message<'_>) {
        say(message.text);
    }

    fn progress(&self, asked: bool, output_is_elsewhere: bool) -> Option<Box<dyn Progress>> {
        Some(Box::new(progress::Line::start(asked, output_is_elsewhere)?))
    }

    fn hold(&self) -> Guard {
        Box::new(interrupt::Hold::begin())
    }

    fn stopped(&self) -> Status {
        interrupt::status().unwrap_or(Status::INTERRUPTED)
    }

    fn closed_pipe(&self) -> Status {
        interrupt::die_of_closed_pipe()
    }
}
