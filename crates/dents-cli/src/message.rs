//! What is said on standard error: GNU's words, with names that cannot do anything to a terminal.

use crate::progress;
use dents_core::tree::{Failure, Problem};
use dents_locale::{Locale, Variables};
use dents_render::quantity::grouped;
use dents_render::quote;
pub(crate) use dents_sink::plain;
use dents_sys::Errno;
use std::ffi::OsStr;
use std::io::{Error, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// A line on standard error, in one piece, with the name of the program before it. Nobody is left to tell if that fails.
pub(crate) fn say(text: &[u8]) {
    let line = [b"dents: ", text, b"\n"].concat();
    progress::hush(|| {
        let _ = std::io::stderr().lock().write_all(&line);
    });
}

/// `PROBLEM 'NAME': REASON`: the one form of all messages about what could not be done with a file.
pub(crate) fn about(problem: &str, name: &[u8], reason: &str) {
    let name = quote::quoteaf(name, locale());
    say(&[problem.as_bytes(), b" ", &name, b": ", reason.as_bytes()].concat());
}

/// `'NAME': STATE`: what is to be known of a file that was read.
pub(crate) fn of(name: &[u8], state: &str) {
    say(&[&quote::quoteaf(name, locale()), &b": "[..], state.as_bytes()].concat());
}

/// A name in the quotes of the locale, its control characters and what is not of the charset escaped.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    quote::quote(name, locale())
}

/// The same, for a message of clap's.
pub(crate) fn quoted_text(name: &[u8]) -> String {
    String::from_utf8_lossy(&quoted(name)).into_owned()
}

/// What the kernel calls an error: as strerror(3) has it.
pub(crate) fn errno_text(errno: i32) -> String {
    plain(&Error::from_raw_os_error(errno))
}

/// Tells of a directory that could not be entered or read to its end.
pub(crate) fn complain(failure: &Failure<'_>) {
    let problem = match failure.problem {
        Problem::Open => "cannot open directory",
        Problem::Read => "reading directory",
        Problem::Loop => {
            return about(
                "cannot enter",
                failure.path,
                "File system loop: it is one of the directories above it",
            );
        }
    };
    about(problem, failure.path, &errno_text(failure.errno.raw_os_error()));
}

/// Tells of an entry that `statx` did not answer for.
pub(crate) fn cannot_access(path: &[u8], errno: Errno) {
    about("cannot access", path, &errno_text(errno.raw_os_error()));
}

/// `1 entry`, `2 entries`: a number of things, in groups of three digits.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Charset of the environment, which decides about quotes and what can be printed.
pub(crate) fn locale() -> &'static Locale {
    static LOCALE: OnceLock<Locale> = OnceLock::new();
    LOCALE.get_or_init(|| {
        let [all, ctype, lang] = ["LC_ALL", "LC_CTYPE", "LANG"].map(std::env::var_os);
        let [all, ctype, lang] = [&all, &ctype, &lang].map(|value| value.as_deref().map(OsStr::as_bytes));
        let variables = Variables { all, ctype, lang, ..Variables::default() };
        Locale::new(&variables)
    })
}
