//! `--version`.

use alloc::vec::Vec;

/// The text of `--version` for a program called `name`, argv\[0\] as it came, of which the base name is shown.
///
/// The first line has GNU's form, name, project in parentheses, number, since scripts take it apart. The second
/// names GNU coreutils, by which they recognise an `ls` that has its options.
#[must_use]
pub fn text(name: &[u8]) -> Vec<u8> {
    let about = concat!(
        " (dents) ",
        env!("CARGO_PKG_VERSION"),
        "\nAn ls in the manner of GNU coreutils 9.7.\nLicence: MIT or Apache-2.0.\n"
    );
    [crate::program::base(name), about.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line() {
        let text = text(b"/usr/bin/ls");
        let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        assert_eq!(first, [b"ls (dents) ", env!("CARGO_PKG_VERSION").as_bytes()].concat());
        assert!(text.ends_with(b"\n"));
    }
}
