//! Which programs `git status` may run: those of the user's own configuration, and none of the repository's. And whether it looks for
//! untracked files.
//!
//! `git config --list --show-scope -z` prints pairs of a scope and of `key\nvalue`; of two values of one key the later
//! one counts. An included file has the scope of the file that includes it. The scopes "system", "global", and
//! "command" (the environment) are the user's own. Programs of any other scope are overridden on git's command line,
//! which counts last: by the user's own value, or by none.

use alloc::ffi::CString;
use alloc::vec::Vec;

/// The arguments that override settings, and whether git must start processes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Settings {
    /// Options, before the command.
    pub(super) options: Vec<CString>,
    /// Variables that the options name.
    pub(super) variables: Vec<CString>,
    /// The user's own configuration names a program.
    pub(super) own_programs: bool,
    /// `status.showUntrackedFiles` is `no`: where a search for untracked files takes too long.
    pub(super) tracked_alone: bool,
}

/// One setting of those that name programs.
struct Setting<'b> {
    key: &'b [u8],
    value: &'b [u8],
    /// The user's own, not the repository's.
    own: bool,
}

const MONITOR: &[u8] = b"core.fsmonitor";
/// Git prints keys in lower case. Any scope may set it: it is about time, not about trust.
const UNTRACKED: &[u8] = b"status.showuntrackedfiles";

impl Settings {
    /// Those where no program is configured.
    pub(super) fn nothing() -> Settings {
        Settings { options: Vec::from([c"-c".into(), c"core.fsmonitor=false".into()]), ..Settings::default() }
    }

    /// Reads git's answer. `None`: it cannot be read.
    pub(super) fn parse(bytes: &[u8]) -> Option<Settings> {
        let (mut all, mut tracked_alone) = (Vec::new(), false);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (scope, more) = piece(rest)?;
            let (setting, more) = piece(more)?;
            rest = more;
            let newline = memchr::memchr(b'\n', setting);
            // Without a value it is true.
            let (key, value) =
                newline.map_or((setting, &b"true"[..]), |at| (&setting[..at], &setting[at + 1..]));
            if key == UNTRACKED {
                tracked_alone = is_false(value);
            }
            if key == MONITOR || without_own(key).is_some() {
                all.push(Setting { key, value, own: matches!(scope, b"system" | b"global" | b"command") });
            }
        }
        Settings::of(&all).map(|settings| Settings { tracked_alone, ..settings })
    }

    fn of(all: &[Setting<'_>]) -> Option<Settings> {
        let own = |key: &[u8]| all.iter().rfind(|one| one.own && one.key == key).map(|one| one.value);
        let mut settings = Settings::nothing();
        settings.own_programs = all.iter().any(|one| one.own && one.names_filter());
        if let Some(monitor) = own(MONITOR).filter(|monitor| !is_false(monitor)) {
            settings.own_programs = true;
            settings.options[1] = CString::new([MONITOR, b"=", monitor].concat()).ok()?;
        }
        let mut foreign: Vec<&[u8]> = all.iter().filter(|one| !one.own).map(|one| one.key).collect();
        foreign.sort_unstable();
        foreign.dedup();
        for (nth, key) in foreign.into_iter().filter(|key| *key != MONITOR).enumerate() {
            let value = own(key).or_else(|| without_own(key))?;
            // A name may hold an equals sign, at which -c would end it.
            let variable = alloc::format!("DLS_GIT_{nth}");
            let option = [b"--config-env=", key, b"=", variable.as_bytes()].concat();
            settings.options.push(CString::new(option).ok()?);
            settings.variables.push(CString::new([variable.as_bytes(), b"=", value].concat()).ok()?);
        }
        Some(settings)
    }
}

impl Setting<'_> {
    fn names_filter(&self) -> bool {
        !self.value.is_empty() && without_own(self.key) == Some(b"")
    }
}

/// The value of a key of a filter, and of git-lfs's, if the user's configuration has none.
fn without_own(key: &[u8]) -> Option<&'static [u8]> {
    let extension = key.starts_with(b"lfs.extension.");
    if !extension && !key.starts_with(b"filter.") {
        return None;
    }
    let last = memchr::memrchr(b'.', key)?;
    match &key[last + 1..] {
        b"clean" | b"smudge" => Some(b""),
        b"process" if !extension => Some(b""),
        b"required" if !extension => Some(b"false"),
        _ => None,
    }
}

/// As git reads it; a number that is zero in another way is taken for a program's name.
pub(crate) fn is_false(value: &[u8]) -> bool {
    [&b""[..], b"0", b"no", b"off", b"false"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The bytes before the first NUL, and those after it.
fn piece(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let nul = memchr::memchr(0, bytes)?;
    Some((&bytes[..nul], &bytes[nul + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// Options and variables, in lines.
    fn parse(listed: &str) -> (String, bool) {
        let settings = Settings::parse(listed.replace('|', "\0").as_bytes()).unwrap();
        let strings = settings.options.iter().chain(&settings.variables);
        let lines: Vec<&str> = strings.map(|string| string.to_str().unwrap()).collect();
        (lines.join(" "), settings.own_programs)
    }

    #[test]
    fn what_the_repository_says_is_undone() {
        let none = "-c core.fsmonitor=false";
        assert_eq!(parse(""), (none.into(), false));
        assert_eq!(Settings::parse(b""), Some(Settings::nothing()));
        assert_eq!(parse("local|core.bare\nfalse|global|user.name\na|"), (none.into(), false));
        assert_eq!(parse("local|core.fsmonitor\nsh|worktree|core.fsmonitor|"), (none.into(), false));
        let listed = "local|filter.a=b.clean\ncat|worktree|filter.a=b.required|local|filter.a=b.clean\ndog|";
        let options = "--config-env=filter.a=b.clean=DLS_GIT_0 --config-env=filter.a=b.required=DLS_GIT_1";
        let expected = alloc::format!("{none} {options} DLS_GIT_0= DLS_GIT_1=false");
        assert_eq!(parse(listed), (expected, false));
        let strange = parse("unknown|filter..process\nx|local|filter.x\ny|local|lfs.extension.e.clean\nz|").0;
        assert!(
            strange.contains("=filter..process=") && strange.contains("=lfs.extension.e.clean="),
            "{strange}"
        );
    }

    #[test]
    fn what_the_user_says_stays() {
        assert_eq!(parse("system|filter.lfs.clean\ngit-lfs|"), ("-c core.fsmonitor=false".into(), true));
        assert_eq!(
            parse("global|core.fsmonitor|local|core.fsmonitor\nsh|"),
            ("-c core.fsmonitor=true".into(), true)
        );
        assert_eq!(parse("global|core.fsmonitor\nOff|"), ("-c core.fsmonitor=false".into(), false));
        assert!(!parse("global|filter.x.required\ntrue|global|filter.x.clean\n|").1);
        let listed = "system|filter.x.clean\none|local|filter.x.clean\nevil|command|filter.x.clean\ntwo|";
        let expected = "-c core.fsmonitor=false --config-env=filter.x.clean=DLS_GIT_0 DLS_GIT_0=two";
        assert_eq!(parse(listed), (expected.into(), true));
    }

    #[test]
    fn the_last_word_about_untracked_files_counts() {
        let alone = |listed: &str| {
            Settings::parse(listed.replace('|', "\0").as_bytes())
                .is_some_and(|settings| settings.tracked_alone)
        };
        assert!(alone("local|status.showuntrackedfiles\nno|"));
        assert!(alone("global|status.showuntrackedfiles\nall|local|status.showuntrackedfiles\nfalse|"));
        assert!(!alone("global|status.showuntrackedfiles\nno|local|status.showuntrackedfiles\nnormal|"));
        assert!(!alone("local|status.showuntrackedfiles|"));
    }

    #[test]
    fn what_is_no_list() {
        for text in ["local", "local\0", "local\0core.bare\nfalse"] {
            assert_eq!(Settings::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
