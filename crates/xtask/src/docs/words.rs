//! What each word means that an option takes, in a phrase for the menus of zsh and fish.

/// The phrase. Words mean the same for every option that takes them, but for those of [`OF_OPTIONS`].
pub(super) fn about(option: Option<&str>, word: &str) -> &'static str {
    let of_option = OF_OPTIONS.iter().find(|(name, one, _)| Some(*name) == option && *one == word);
    let any = || WORDS.iter().find(|(one, _)| *one == word).map(|(_, about)| *about);
    of_option.map(|(_, _, about)| *about).or_else(any).unwrap_or_default()
}

const OF_OPTIONS: &[(&str, &str, &str)] = &[
    ("acl", "auto", "none on network file systems"),
    ("mode", "auto", "what suits the file system"),
    ("sort", "none", "the order of the directory"),
    ("sort", "width", "the shortest name first"),
    ("sort", "inode", "the number of the inode"),
    ("sort", "type", "directories, links, files, …"),
    ("sort", "size", "the largest first"),
    ("sort", "name", "the order of the locale"),
    ("sort", "created", "the birth, newest first"),
    ("sort", "modified", "the last change of the contents, newest first"),
    ("time-style", "locale", "as the locale writes dates"),
    ("indicator-style", "none", "no marks"),
];

const WORDS: &[(&str, &str)] = &[
    ("always", "also into files and pipes"),
    ("never", "nowhere"),
    ("auto", "on a terminal"),
    ("verbose", "as -l"),
    ("long", "as -l"),
    ("commas", "as -m"),
    ("horizontal", "as -x"),
    ("across", "as -x"),
    ("vertical", "as -C"),
    ("single-column", "as -1"),
    ("atime", "the last access"),
    ("access", "the last access"),
    ("use", "the last access"),
    ("ctime", "the last change of the inode"),
    ("status", "the last change of the inode"),
    ("mtime", "the last change of the contents"),
    ("modification", "the last change of the contents"),
    ("birth", "the birth of the file"),
    ("creation", "the birth of the file"),
    ("full-iso", "to the nanosecond, with the zone"),
    ("long-iso", "to the minute"),
    ("iso", "the day and the minute, or the date if it is old"),
    ("slash", "a / behind directories"),
    ("file-type", "as --file-type"),
    ("classify", "as -F"),
    ("literal", "names as they are"),
    ("shell", "quotes for the shell where needed"),
    ("shell-always", "quotes for the shell around all names"),
    ("shell-escape", "as shell, with escapes for control characters"),
    ("shell-escape-always", "as shell-always, with escapes for control characters"),
    ("c", "as a string in C"),
    ("escape", "as a string in C without the quotes"),
    ("locale", "the quotation marks of the locale"),
    ("none", "nothing"),
    ("size", "the size in bytes"),
    ("time", "the newest first"),
    ("version", "digits compared as numbers, as -v"),
    ("extension", "what stands behind the last dot"),
    ("name", "the name"),
    ("natural", "digits compared as numbers, in the order of the locale"),
    ("created", "the birth"),
    ("modified", "the last change of the contents"),
    ("changed", "the last change of the inode"),
    ("accessed", "the last access"),
    ("inode", "the number of the inode"),
    ("mode", "type and permissions"),
    ("octal", "permissions as octal digits"),
    ("links", "the number of hard links"),
    ("user", "the owner"),
    ("group", "the group"),
    ("uid", "the owner as a number"),
    ("gid", "the group as a number"),
    ("blocks", "the allocated space"),
    ("device", "the device of the file system, a number"),
    ("context", "the security context"),
    ("xattrs", "the names of extended attributes"),
    ("flags", "the flags of chattr"),
    ("git", "the state in git"),
    ("total", "the size of everything below"),
    ("classic", "one request after the other"),
    ("par", "many threads"),
    ("iou", "io_uring"),
    ("plan", "only what would be done"),
];

#[cfg(test)]
mod tests {
    use super::super::files::{Value, options};
    use super::*;

    #[test]
    fn every_word_that_is_offered_has_a_phrase() {
        for option in options() {
            let (Value::Words(words) | Value::List(words)) = Value::of(option) else { continue };
            for word in words {
                let phrase = about(option.long, word);
                assert!(!phrase.is_empty(), "{:?} {word}", option.long);
                assert!(!phrase.contains(['\'', '"', '[', ']', '\\', ':']), "needs no quotes: {phrase}");
            }
        }
    }
}
