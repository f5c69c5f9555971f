//! Values of LS_COLORS to list with.

use std::process::Command;

/// Every type key with a colour of its own, so that any two confused keys show. `ca` is missing: Debian builds its
/// `ls` without libcap, so `tests/reference.rs` tests it.
pub const EVERY_KEY: &str = "no=90:fi=91:rs=0:di=1;31:ln=1;32:mh=1;33:pi=1;34:so=1;35:do=1;36:bd=1;37:cd=4;31:\
    or=4;32:mi=4;33:su=4;34:sg=4;35:ca=00:tw=4;37:ow=5;31:st=5;32:ex=5;33:*.gz=7;31:*.tar.gz=7;32:*~=7;33:*README=7;34";

/// Every key that would cost a stat switched off.
pub const CHEAP: &str = "ex=00:su=00:sg=00:ca=00";

/// Values that are odd in one way each: links coloured as their targets, empty values, escapes in every
/// notation, other brackets, suffixes that overlap or are whole names, keys that do not exist yet.
pub const ODD: &[&str] = &[
    "ln=target",
    "ln=target:or=01;05:mi=04:ex=32",
    "ln=target:or=",
    "di=:ln=:ex=:fi=",
    "di=0:ln=00:ex=0:no=0",
    "no=33:fi=0",
    "lc=<:rc=>:ec=</>:di=dir:no=none",
    "lc=\\e[:rc=m:rs=\\x30:di=\\0331;\\63",
    "di=^[[1m\\_\\?\\a\\b\\f\\n\\r\\t\\v",
    "*=31",
    "*a=31:*.tar=32:*tar=33:*.tar.gz=34:*.gz=35",
    "*.gz=31:*.gz=32",
    "mh=44;37:su=:sg=",
    "tw=:ow=:st=",
    "tw=0:ow=4:st=5",
    "mi=5;41",
    "or=",
    "",
    ":",
    ":di=1::ex=2:",
    "ex=00:su=00:sg=00:ca=00",
];

/// Values that GNU `ls` rejects: it warns, and lists without colour.
pub const BAD: &[&str] =
    &["di", "di=1:x", "xx=1", "di=1:xx=2:ex=3", "d=1", "*.c", "di=\\", "di=^", "di=\\x", "=1", "di1"];

/// The table that `dircolors` on this machine prints.
pub fn full() -> String {
    let output = Command::new("dircolors")
        .arg("-b")
        .env_clear()
        .env("TERM", "xterm")
        .env("PATH", "/usr/bin:/bin")
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split('\'').nth(1).unwrap_or(EVERY_KEY).to_string()
}
