//! The programs that are measured: ours, the yardsticks, and those of others that the machine has.

use std::path::Path;
use std::process::{Command, Stdio};

use super::job::{Job, Kind, extra_words};
use crate::step::Result;

/// A program.
pub(crate) struct Program {
    /// Its name in tables.
    pub(crate) name: String,
    /// How its options are spelled.
    pub(crate) kind: Kind,
    /// Its version, as it prints it.
    pub(crate) version: String,
    /// Its path, and for multi-call programs the name of the part.
    words: Vec<String>,
}

impl Program {
    /// A program whose version is not requested.
    pub(crate) fn new(name: &str, kind: Kind, path: &str) -> Program {
        Program { name: name.into(), kind, version: String::new(), words: vec![path.into()] }
    }

    /// The command for a job; `None` where the program has no way to do it.
    pub(crate) fn command(&self, job: Job, dir: &str) -> Option<Vec<String>> {
        if self.kind == Kind::Extra {
            return extra_words(&self.words, job, dir);
        }
        let words = self.kind.words(job, dir)?;
        Some(self.words.iter().cloned().chain(words).collect())
    }

    /// May be left out where it would take too long.
    pub(crate) fn is_peer(&self) -> bool {
        !matches!(self.kind, Kind::Ours(_) | Kind::Gnu | Kind::Floor(_) | Kind::Empty)
    }
}

/// The measure's name in tables.
pub(crate) const GNU: &str = "GNU ls";
/// `dls` with the call that the job [`Older`](super::job::Job::Older) takes away.
pub(crate) const WITH_LISTXATTRAT: &str = "dls, with it";

/// The modes of `dls`, the fixed ones first.
pub(crate) const MODES: [&str; 4] = ["classic", "par", "iou", "auto"];

/// `dls` in every mode.
pub(crate) fn ours(path: &str) -> Vec<Program> {
    let version = version(&[path.to_string()], "--version").unwrap_or_default();
    let ours = MODES.map(|mode| {
        let program = Program::new(&format!("dls {mode}"), Kind::Ours(mode), path);
        Program { version: version.clone(), ..program }
    });
    ours.into()
}

/// `-al` on a kernel before 6.13: `dls` and GNU `ls` started by `refuse`, which refuses `listxattrat`; and `dls`
/// started by `refuse` with a call refused that it does not make.
pub(crate) fn older(refuse: &str, dls: &Program, gnu: &Program) -> [Program; 3] {
    let under = |name: &str, set: &str, program: &Program| {
        let launched = [refuse, set].map(String::from).into_iter().chain(program.words.iter().cloned());
        Program { words: launched.collect(), ..Program::new(name, program.kind.clone(), refuse) }
    };
    let without = "listxattrat,getxattrat";
    [under(GNU, without, gnu), under(WITH_LISTXATTRAT, "quotactl_fd", dls), under(&dls.name, without, dls)]
}

/// GNU `ls`: the first of `$GNU_LS`, `ls` and `gls` whose version says GNU.
pub(crate) fn gnu() -> Result<Program> {
    let named = std::env::var("GNU_LS").ok();
    let names = named.as_deref().map_or(vec!["ls", "gls"], |name| vec![name]);
    for path in names.iter().filter_map(|name| find(name)) {
        let words = [path];
        if let Some(version) =
            version(&words, "--version").filter(|version| version.contains("GNU coreutils"))
        {
            let [path] = words;
            return Ok(Program { version, ..Program::new(GNU, Kind::Gnu, &path) });
        }
    }
    Err(format!(
        "no GNU ls, the measure of everything here, among {}: install coreutils (on macOS and BSD as gls), or name \
         it in GNU_LS",
        names.join(", ")
    ))
}

/// The peers, in the order of the tables, and the names of those that are not installed.
pub(crate) fn peers() -> Result<(Vec<Program>, Vec<&'static str>)> {
    #[rustfmt::skip]
    let known: [(&str, Kind, &[&[&str]]); 5] = [
        ("busybox", Kind::LikeGnu, &[&["busybox", "ls"]]),
        ("eza", Kind::Eza, &[&["eza"]]),
        ("lsd", Kind::Lsd, &[&["lsd"]]),
        ("uutils", Kind::LikeGnu, &[&["uu_ls"], &["uu-ls"], &["uutils", "ls"], &["uu-coreutils", "ls"], &["coreutils", "ls"]]),
        ("lsr", Kind::Lsr, &[&["lsr"]]),
    ];
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (name, kind, spellings) in known {
        let peer = spellings.iter().find_map(|words| {
            let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            words[0] = find(&words[0])?;
            let asked = if name == "busybox" { &words[..1] } else { &words[..] };
            let flag = if name == "busybox" { "--help" } else { "--version" };
            let version = version(asked, flag)?;
            Some(Program { name: name.into(), kind: kind.clone(), version, words })
        });
        match peer {
            Some(peer) => found.push(peer),
            None => missing.push(name),
        }
    }
    found.extend(extra(&std::env::var("PEERS").unwrap_or_default())?);
    Ok((found, missing))
}

/// `PEERS="name=command {dir}; other=command {args} {dir}"`: one peer between semicolons or line ends.
fn extra(said: &str) -> Result<Vec<Program>> {
    let mut peers = Vec::new();
    for one in said.split([';', '\n']).map(str::trim).filter(|one| !one.is_empty()) {
        let Some((name, command)) = one.split_once('=').filter(|(name, _)| !name.contains(' ')) else {
            return Err(format!(
                "PEERS: {one:?} is not name=command; say for example PEERS=\"mine=/opt/ls -al {{dir}}\""
            ));
        };
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        let Some(path) = words.first().and_then(|program| find(program)) else {
            return Err(format!("PEERS: {name}: the program of {command:?} is not here"));
        };
        words[0] = path;
        let version = version(&words[..1], "--version").unwrap_or_default();
        peers.push(Program { name: name.trim().into(), kind: Kind::Extra, version, words });
    }
    Ok(peers)
}

/// The full path of a program, so that its search is not timed.
pub(crate) fn find(program: &str) -> Option<String> {
    if program.contains('/') {
        return Path::new(program).is_file().then(|| program.to_string());
    }
    let dirs = std::env::var("PATH").unwrap_or_default();
    let mut paths = dirs.split(':').map(|dir| format!("{dir}/{program}"));
    paths.find(|path| Path::new(path).is_file())
}

/// The first line of a program's version that has a digit.
pub(crate) fn version(words: &[String], flag: &str) -> Option<String> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(flag).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).map(plain)
}

/// Without colours and links for terminals.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts
        .fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
        .trim()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_peers_are_read_or_refused_by_name() {
        let peers = extra("mine=sh -c {dir};\n other=sh {args}\n").expect("sh is there");
        assert_eq!(peers.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>(), ["mine", "other"]);
        let command = peers[1].command(Job::Unsorted, "/d").expect("it takes any options");
        assert_eq!(command[1..], ["-U1", "/d"]);
        assert!(extra("no command").is_err_and(|why| why.contains("no command")));
        assert!(extra("x=/nonexistent/x {dir}").is_err_and(|why| why.contains("/nonexistent/x")));
        assert!(extra(" ").is_ok_and(|peers| peers.is_empty()));
    }

    #[test]
    fn an_older_kernel_is_a_launcher() {
        let (dls, gnu) =
            (Program::new("dls auto", Kind::Ours("auto"), "/dls"), Program::new(GNU, Kind::Gnu, "/ls"));
        let older = older("/refuse", &dls, &gnu);
        let commands = older.map(|one| one.command(Job::Older, "/d").expect("both know -al").join(" "));
        assert_eq!(
            commands,
            [
                "/refuse listxattrat,getxattrat /ls -al /d",
                "/refuse quotactl_fd /dls -al /d",
                "/refuse listxattrat,getxattrat /dls -al /d"
            ]
        );
    }

    #[test]
    fn versions_lose_their_colours() {
        assert_eq!(plain("\u{1b}[1mv0.23\u{1b}[0m [+git]"), "v0.23 [+git]");
        assert_eq!(plain("ls 9.1"), "ls 9.1");
    }
}
