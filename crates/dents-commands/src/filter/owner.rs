//! `--user` and `--group`: the number of a name.

use std::process::Command;

/// The number of a user. A word that is both a name and a number is the name, as in `find`.
pub(crate) fn user(text: &str) -> Result<u32, String> {
    number(text, "/etc/passwd", "passwd", "user")
}

/// The number of a group.
pub(crate) fn group(text: &str) -> Result<u32, String> {
    number(text, "/etc/group", "group", "group")
}

/// Searches the file first, then runs `getent`, which uses the directory services of the site: one child process.
fn number(name: &str, file: &str, database: &str, what: &str) -> Result<u32, String> {
    if let Some(id) = std::fs::read(file).ok().and_then(|lines| id_of(&lines, name)) {
        return Ok(id);
    }
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let found = Command::new("getent").args(["--", database, name]).output().ok();
    let found = found.and_then(|output| id_of(&output.stdout, name));
    found.ok_or_else(|| format!("neither the name of a {what} nor a number"))
}

/// The third field of the line that begins with the name.
fn id_of(lines: &[u8], name: &str) -> Option<u32> {
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        if fields.next()? != name.as_bytes() {
            return None;
        }
        std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!((user("root"), group("root")), (Ok(0), Ok(0)));
        assert_eq!(user("4294967295"), Ok(u32::MAX));
        for wrong in ["", "no-such-user-here", "-1", "4294967296"] {
            assert!(user(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn hostile_lines() {
        assert_eq!(id_of(b"a\n:\na:\na:x\na:x:y\na:x:7", "a"), Some(7));
        assert_eq!(id_of(b"\xff:x:1", "a"), None);
    }
}
