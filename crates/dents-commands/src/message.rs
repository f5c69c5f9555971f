//! The texts of messages: in GNU's words, with names quoted so that they cannot control a terminal.

use dents_locale::{Locale, Variables};
use dents_render::quantity::grouped;
use dents_render::quote::{Quoter, Quoting};
pub use dents_sink::plain;
use std::ffi::OsStr;
use std::io::Error;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// A name in the quotes that `ls` uses in its messages.
pub fn quoteaf(name: &[u8]) -> Vec<u8> {
    written(Quoting::ShellEscapeAlways, name)
}

/// A name in the quotes of the locale; control characters and bytes that are not of the charset are escaped.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    written(Quoting::Locale, name)
}

fn written(style: Quoting, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 8);
    Quoter::new(style, locale(), false, b"").and_invisible().write(name, &mut out);
    out
}

/// The same, for a message of clap's.
pub fn quoted_text(name: &[u8]) -> String {
    String::from_utf8_lossy(&quoted(name)).into_owned()
}

/// The text of an error number, that of strerror(3).
pub fn errno_text(errno: i32) -> String {
    plain(&Error::from_raw_os_error(errno))
}

/// `1 entry`, `2 entries`: a number of things, in groups of three digits.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The locale of the environment: its charset decides which quotes are used and which characters are printable.
pub fn locale() -> &'static Locale {
    static LOCALE: OnceLock<Locale> = OnceLock::new();
    LOCALE.get_or_init(|| {
        let [all, ctype, lang] = ["LC_ALL", "LC_CTYPE", "LANG"].map(std::env::var_os);
        let [all, ctype, lang] = [&all, &ctype, &lang].map(|value| value.as_deref().map(OsStr::as_bytes));
        let variables = Variables { all, ctype, lang, ..Variables::default() };
        Locale::new(&variables)
    })
}
