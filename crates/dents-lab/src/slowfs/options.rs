//! The command line of `slowfs`: a description of a file system in words, and where to mount it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use super::builder::{Builder, SlowFs};
use super::fault::Fault;
use super::fuse::Readdirplus;
use super::kind::Kind;
use super::request::Request;

/// The text of `--help`.
pub const HELP: &str = "\
usage: slowfs MOUNT [OPTION]... [-- COMMAND [ARGUMENT]...]

Mounts a slow, hung or lying file system on the directory MOUNT (made if it is not there) until Ctrl-C, and
prints the requests it got. With a COMMAND: runs it, {} in it replaced by MOUNT, prints its time and its
requests to standard error, unmounts, and exits as it did.

What is in it:
  --entries N           files in the root (1000)
  --types KIND,...      their kinds in turn: file executable setuid directory link dangling fifo socket (file)
  --names PATTERN       their names; ## is their number, of that width (e#####)
  --entry NAME=KIND     one more entry; repeatable
  --tree D,F            D directories below the root, eight in each, F files in each of them
  --shuffle SEED        listed in an order like that of a hash
  --owners UID:GID,...  owners in turn (0:0)
  --xattr PATH:NAME=VALUE  an extended attribute; repeatable
  --endless             listing the root never ends
  --churn N             N names come and go in the root with every piece of it that is read

How fast it is:
  --latency TIME        of every request (1ms); TIME is a number with us, ms or s
  --latency-of REQUEST=TIME  of requests of one kind; repeatable
  --jitter TIME         added to it at random, up to this
  --slots K             requests worked on at once; others queue (no limit)
  --saturate K[,POWER]  with n > K in flight each takes (n/K)^POWER times as long (POWER: 2)
  --seed N              of the jitter

What the kernel may keep and do:
  --ttl TIME            how long names and attributes hold (0)
  --entry-ttl TIME, --attr-ttl TIME  the same, each for itself
  --readdirplus auto|always  names and attributes at once (never)
  --hide-types          d_type is DT_UNKNOWN
  --serial              one lookup at a time in a directory
  --default-permissions the kernel checks modes

What goes wrong; PATH is relative to MOUNT, . is the root; all repeatable:
  --hang PATH           stat of it never returns, though a signal can kill the caller
  --hang-hard PATH      the same, and only unmounting ends it
  --fail PATH=ERROR     stat of it fails: EIO, ESTALE, EACCES ...
  --vanish PATH         it is listed, but not there
  --fault PATH:REQUEST[+N]=FAULT  FAULT is hang, hang-hard, an ERROR, or a TIME that it takes longer; after the
                        first N such requests; PATH * is every path
REQUEST is lookup getattr readlink opendir readdir readdirplus getxattr listxattr access statfs open read, or
stat (lookup, getattr), dir (opendir, readdir, readdirplus), xattr, all.

  --every TIME          print the counts that often, when they have changed
  --help                this text
";

/// The parsed command line.
#[derive(Debug)]
pub struct Command {
    /// The file system.
    pub builder: Builder,
    /// Where it goes.
    pub mount: PathBuf,
    /// How often counts are printed.
    pub every: Option<Duration>,
    /// The command to run; if empty, the program stays until a signal comes.
    pub command: Vec<OsString>,
}

/// Reads a time: `1.2ms`, `300us`, `2s`; a bare `0` is one too.
pub fn duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().ok()?;
    let seconds = match &text[split..] {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "" if number == 0.0 => 0.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Options that are collected first, since the builder's calls must be made in a certain order.
#[derive(Default)]
struct Collected {
    entries: Option<usize>,
    types: Vec<Kind>,
    names: Option<String>,
    entry_ttl: Duration,
    attr_ttl: Duration,
    latency: Option<Duration>,
    mount: Option<PathBuf>,
    every: Option<Duration>,
}

impl Command {
    /// Reads the arguments after the program's name. The error is a sentence for the user.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
        let mut args = args.into_iter();
        let mut builder = SlowFs::builder();
        let mut said = Collected::default();
        let mut command = Vec::new();
        while let Some(arg) = args.next() {
            if arg == "--" {
                command = args.collect();
                break;
            }
            let Some(option) = arg.to_str().and_then(|arg| arg.strip_prefix("--")) else {
                if said.mount.replace(arg.clone().into()).is_some() {
                    return Err(format!("{}: one MOUNT is enough", arg.display()));
                }
                continue;
            };
            let (name, joined) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (option, None),
            };
            if let Some(flag) = flag(name) {
                builder = flag(builder);
                continue;
            }
            let separate = || args.next().and_then(|value| value.into_string().ok());
            let value = joined.or_else(separate).ok_or(format!("--{name} wants a value"))?;
            builder = said.option(builder, name, &value).map_err(|why| format!("--{name}={value}: {why}"))?;
        }
        let mount = said.mount.clone().ok_or("which directory? usage: slowfs MOUNT [OPTION]...")?;
        let every = said.every;
        // Single entries made before these have numbers too; their names are different.
        let builder = said.finish(builder);
        Ok(Command { builder, mount, every, command })
    }
}

fn flag(name: &str) -> Option<fn(Builder) -> Builder> {
    match name {
        "endless" => Some(Builder::endless),
        "hide-types" => Some(Builder::hide_types),
        "serial" => Some(Builder::serial),
        "default-permissions" => Some(Builder::default_permissions),
        _ => None,
    }
}

impl Collected {
    fn option(&mut self, builder: Builder, name: &str, value: &str) -> Result<Builder, String> {
        match name {
            "entries" => self.entries = Some(number(value)?),
            "types" => {
                let kinds = value.split(',').map(|word| Kind::parse(word).ok_or(word));
                self.types = kinds.collect::<Result<_, _>>().map_err(|word| format!("no kind {word}"))?;
            }
            "names" => self.names = Some(value.to_string()),
            "latency" => self.latency = Some(time(value)?),
            "ttl" => (self.entry_ttl, self.attr_ttl) = (time(value)?, time(value)?),
            "entry-ttl" => self.entry_ttl = time(value)?,
            "attr-ttl" => self.attr_ttl = time(value)?,
            "every" => self.every = Some(time(value)?),
            _ => return content(builder, name, value),
        }
        Ok(builder)
    }

    fn finish(self, mut builder: Builder) -> Builder {
        if let Some(pattern) = &self.names {
            builder = builder.names(pattern);
        }
        let kinds = if self.types.is_empty() { &[Kind::File][..] } else { &self.types };
        builder
            .entries(self.entries.unwrap_or(1000), kinds)
            .latency(self.latency.unwrap_or(Duration::from_millis(1)))
            .ttl(self.entry_ttl, self.attr_ttl)
    }
}

/// The options whose order does not matter.
fn content(builder: Builder, name: &str, value: &str) -> Result<Builder, String> {
    Ok(match name {
        "entry" => {
            let (entry, kind) = value.rsplit_once('=').ok_or("wants NAME=KIND")?;
            builder.entry(entry, Kind::parse(kind).ok_or(format!("no kind {kind}"))?)
        }
        "tree" => {
            let (directories, files) = value.split_once(',').ok_or("wants D,F")?;
            builder.tree(number(directories)?, number(files)?)
        }
        "shuffle" => builder.shuffled(number(value)? as u64),
        "owners" => builder.owners(&owners(value)?),
        "xattr" => {
            let (path, rest) = value.split_once(':').ok_or("wants PATH:NAME=VALUE")?;
            let (attribute, value) = rest.split_once('=').ok_or("wants PATH:NAME=VALUE")?;
            builder.xattr(path, attribute, value.as_bytes())
        }
        "churn" => builder.churn(number(value)?),
        _ => return behaviour(builder, name, value),
    })
}

fn behaviour(builder: Builder, name: &str, value: &str) -> Result<Builder, String> {
    Ok(match name {
        "latency-of" => {
            let (word, latency) = value.split_once('=').ok_or("wants REQUEST=TIME")?;
            builder.latency_of(&requests(word)?, time(latency)?)
        }
        "jitter" => builder.jitter(time(value)?),
        "slots" => builder.slots(number(value)?),
        "saturate" => {
            let (limit, power) = value.split_once(',').unwrap_or((value, "2"));
            builder.saturates_at(number(limit)?, number(power)? as u32)
        }
        "seed" => builder.seed(number(value)? as u64),
        "readdirplus" => match value {
            "auto" => builder.readdirplus(Readdirplus::Auto),
            "always" => builder.readdirplus(Readdirplus::Always),
            _ => return Err("it is auto or always".into()),
        },
        "hang" => builder.hang(value),
        "hang-hard" => builder.fault(value, Request::STAT, Fault::HangHard),
        "vanish" => builder.vanish(value),
        "fail" => {
            let (path, error) = value.rsplit_once('=').ok_or("wants PATH=ERROR")?;
            builder.fault(path, Request::STAT, fault(error)?)
        }
        "fault" => any_fault(builder, value)?,
        _ => return Err("no such option; see slowfs --help".into()),
    })
}

/// `PATH:REQUEST[+N]=FAULT`.
fn any_fault(builder: Builder, value: &str) -> Result<Builder, String> {
    let (place, what) = value.rsplit_once('=').ok_or("wants PATH:REQUEST=FAULT")?;
    let (path, word) = place.rsplit_once(':').ok_or("wants PATH:REQUEST=FAULT")?;
    let (word, spare) = word.split_once('+').unwrap_or((word, "0"));
    let (requests, fault) = (requests(word)?, fault(what)?);
    if path == "*" {
        return Ok(builder.fault_everywhere(&requests, fault));
    }
    Ok(builder.fault_after(path, &requests, number(spare)? as u64, fault))
}

fn fault(word: &str) -> Result<Fault, String> {
    let later = || duration(word).map(Fault::Delay);
    Fault::parse(word).or_else(later).ok_or(format!("no fault {word}"))
}

fn requests(word: &str) -> Result<Vec<Request>, String> {
    Request::parse(word).ok_or(format!("no request {word}"))
}

fn owners(value: &str) -> Result<Vec<(u32, u32)>, String> {
    let pair = |word: &str| {
        let (uid, gid) = word.split_once(':')?;
        Some((uid.parse().ok()?, gid.parse().ok()?))
    };
    value.split(',').map(|word| pair(word).ok_or(format!("{word} is not UID:GID"))).collect()
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn time(text: &str) -> Result<Duration, String> {
    duration(text).ok_or(format!("{text} is not a time, as 1.2ms, 300us or 2s are"))
}

/// Replaces `{}` by the mount's path in a word of the command.
pub fn fill_in(word: &OsStr, path: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let (bytes, mut filled, mut at) = (word.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"{}") {
            filled.extend_from_slice(path.as_bytes());
            at += 2;
        } else {
            filled.push(bytes[at]);
            at += 1;
        }
    }
    OsString::from_vec(filled)
}

impl Command {
    /// The command with every `{}` replaced by `path`.
    pub fn words(&self, path: &OsStr) -> Vec<OsString> {
        self.command.iter().map(|word| fill_in(word, path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("1.2ms"), Some(Duration::from_micros(1200)));
        assert_eq!(duration("300us"), Some(Duration::from_micros(300)));
        assert_eq!(duration("0"), Some(Duration::ZERO));
        assert_eq!([duration("3"), duration("ms"), duration("-1s"), duration("1h")], [None; 4]);
    }

    #[test]
    fn options_come_before_and_after_the_mount() {
        let parsed = parse("--entries 10 /mnt --hang=e00003 --fault e00001:listxattr+2=EIO -- ls -l {}/e");
        let parsed = parsed.expect("it is right");
        assert_eq!(parsed.mount, PathBuf::from("/mnt"));
        assert_eq!(parsed.words(OsStr::new("/x")), ["ls", "-l", "/x/e"]);
        let built = format!("{:?}", parsed.builder);
        assert!(built.contains("e00009") && built.contains("spare: 2"), "{built}");
    }

    #[test]
    fn help_names_every_option() {
        let options = [
            "entries types names entry tree shuffle owners xattr endless churn latency latency-of jitter",
            "slots saturate seed ttl entry-ttl attr-ttl readdirplus hide-types serial default-permissions",
            "hang hang-hard fail vanish fault every help",
        ];
        for option in options.iter().flat_map(|line| line.split(' ')) {
            assert!(HELP.contains(&format!("--{option} ")), "{option}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (line, problem) in [
            ("", "which directory"),
            ("/a /b", "one MOUNT"),
            ("/a --entries x", "x is not a number"),
            ("/a --latency 3", "3 is not a time"),
            ("/a --nonsense 3", "no such option"),
            ("/a --fail e00001=EWHAT", "no fault EWHAT"),
            ("/a --fault e00001:rename=EIO", "no request rename"),
            ("/a --types file,pipe", "no kind pipe"),
            ("/a --slots", "wants a value"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(problem), "{line}: {error}");
        }
    }
}
