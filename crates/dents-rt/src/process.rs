//! The arguments, the environment and the auxiliary vector of the process.
//!
//! Without libc the program reads them where the kernel has put them, above the initial stack pointer (System V ABI,
//! AMD64 supplement, 3.4.1 "Initial Stack and Register State"): `argc`, the argument pointers, NULL, the environment
//! pointers, NULL, the auxiliary vector. Nothing is copied, and no system call is made.

use core::ffi::{CStr, c_char};
use core::iter::FusedIterator;
use core::marker::PhantomData;

/// The process as `main` receives it. Copying it copies three words.
#[derive(Clone, Copy)]
pub struct Process {
    /// `argc` pointers to strings, then NULL.
    argv: *const *const c_char,
    argc: usize,
    /// Pointers to strings up to a NULL.
    envp: *const *const c_char,
}

// SAFETY: the memory behind the pointers lives as long as the process and is never written.
unsafe impl Send for Process {}
// SAFETY: as above; shared reads of memory that no thread writes.
unsafe impl Sync for Process {}

impl Process {
    /// # Safety
    /// `argv` points to `argc` valid C strings and `envp` to a NULL-terminated array of them; all of it stays
    /// valid and unwritten until the process ends.
    pub(crate) unsafe fn new(argc: usize, argv: *const *const c_char, envp: *const *const c_char) -> Self {
        Self { argv, argc, envp }
    }

    /// The arguments; the first is the name of the program. After an `execve` with an empty `argv` there is no
    /// argument (before Linux 5.18) or one empty string (since). No system call.
    pub fn args(&self) -> Strings {
        // SAFETY: `new` was promised `argc` strings.
        let end = unsafe { self.argv.add(self.argc) };
        Strings { next: self.argv, end: Some(end), lifetime: PhantomData }
    }

    /// The environment, each string as the kernel passed it. Most have the form `NAME=value`, but none must. No
    /// system call.
    pub fn env(&self) -> Strings {
        Strings { next: self.envp, end: None, lifetime: PhantomData }
    }

    /// The environment as pairs of name and value, without the strings that have no `=`.
    pub fn vars(&self) -> impl Iterator<Item = (&'static [u8], &'static [u8])> + use<> {
        self.env().filter_map(|string| {
            let bytes = string.to_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=')?;
            Some((&bytes[..equals], &bytes[equals + 1..]))
        })
    }

    /// The last component of the first argument; empty if there is none.
    pub fn program(&self) -> &'static [u8] {
        basename(self.args().next().unwrap_or_default().to_bytes())
    }
}

/// The value in `NAME=value`, if the name is `name`. It does not measure the string first: most strings have another
/// name and differ in the first bytes.
#[cfg(any(dents_libc_free, test))]
pub(crate) fn value_if_named<'a>(string: &'a CStr, name: &[u8]) -> Option<&'a CStr> {
    let start = string.as_ptr();
    for (at, &byte) in name.iter().chain(b"=").enumerate() {
        // SAFETY: every byte before this one was equal to a byte of `name`; had one of them been the
        // terminating NUL, it would have differed, unless `name` holds a NUL, which the check excludes.
        let found = unsafe { start.add(at).read() } as u8;
        if found != byte || found == 0 {
            return None;
        }
    }
    // SAFETY: all of `NAME=` was matched within the string, so what follows is its NUL-terminated rest.
    Some(unsafe { CStr::from_ptr(start.add(name.len() + 1)) })
}

/// The part after the last slash.
pub(crate) fn basename(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Iterator over the strings that the kernel handed the process.
#[derive(Clone)]
pub struct Strings {
    next: *const *const c_char,
    /// The end of the pointers; if `None`, a NULL ends them.
    end: Option<*const *const c_char>,
    lifetime: PhantomData<&'static CStr>,
}

// SAFETY: as for `Process`: memory that lives as long as the process and is never written.
unsafe impl Send for Strings {}

impl Iterator for Strings {
    type Item = &'static CStr;

    fn next(&mut self) -> Option<&'static CStr> {
        if self.end == Some(self.next) {
            return None;
        }
        // SAFETY: not at the end yet, so this slot exists (`Process::new`); it holds NULL or a valid string.
        let string = unsafe { self.next.read() };
        if string.is_null() {
            return None;
        }
        // SAFETY: a slot that is neither the end nor NULL is followed by another one.
        self.next = unsafe { self.next.add(1) };
        // SAFETY: not NULL, hence a C string that outlives the process (`Process::new`).
        Some(unsafe { CStr::from_ptr(string) })
    }
}

impl FusedIterator for Strings {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn process(args: &'static [*const c_char], env: &'static [*const c_char]) -> Process {
        // SAFETY: both arrays are static, of string literals, and `env` ends in NULL.
        unsafe { Process::new(args.len() - 1, args.as_ptr(), env.as_ptr()) }
    }

    macro_rules! strings {
        ($($string:literal),*) => {
            std::boxed::Box::leak(std::boxed::Box::new([$($string.as_ptr(),)* core::ptr::null()]))
        };
    }

    #[test]
    fn arguments_end_where_argc_says() {
        let process = process(strings![c"/usr/bin/dls", c"", c"-l"], strings![]);
        assert_eq!(process.args().collect::<Vec<_>>(), [c"/usr/bin/dls", c"", c"-l"]);
        assert_eq!(process.program(), b"dls");
        let mut args = process.args();
        assert_eq!(args.by_ref().count(), 3);
        assert_eq!(args.next(), None);
    }

    #[test]
    fn no_argument_at_all() {
        let process = process(strings![], strings![c"A=1"]);
        assert_eq!(process.args().next(), None);
        assert_eq!(process.program(), b"");
        assert_eq!(process.vars().next(), Some((&b"A"[..], &b"1"[..])));
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let env =
            strings![c"LANG2=x", c"LANG", c"", c"=", c"LANG=C", c"LANG=de", c"EMPTY=", c"A=B=C", c"LAN=n"];
        let process = process(strings![c"p"], env);
        let var = |name: &[u8]| {
            let value = process.env().find_map(|string| value_if_named(string, name));
            value.map(CStr::to_bytes)
        };
        assert_eq!(var(b"LANG"), Some(&b"C"[..]));
        assert_eq!(var(b"LAN"), Some(&b"n"[..]));
        assert_eq!(var(b"EMPTY"), Some(&b""[..]));
        assert_eq!(var(b"A"), Some(&b"B=C"[..]));
        assert_eq!(var(b"B"), None);
        assert_eq!(var(b"LANG\0"), None);
        assert_eq!(var(b""), Some(&b""[..]));
        assert_eq!(process.vars().count(), 7);
        assert_eq!(process.vars().nth(1), Some((&b""[..], &b""[..])));
        assert_eq!(process.env().count(), 9);
    }

    #[test]
    fn basename_is_what_follows_the_last_slash() {
        for (path, base) in [("/usr/bin/dls", "dls"), ("dls", "dls"), ("", ""), ("a/", ""), ("./x", "x")] {
            assert_eq!(basename(path.as_bytes()), base.as_bytes(), "{path}");
        }
    }
}
