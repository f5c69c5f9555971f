//! Default options: a configuration file, and two variables that many programs read.
//!
//! This stage is between Args and Plan. The options of the file come before those of the command line, so that the
//! command line wins; the settings of the file replace unset variables of the environment. [`location`] finds the
//! file, [`parse`] reads its lines, [`template`] writes the file for `--init`.
//!
//! If the program is called as `ls`, `dir` or `vdir`, no configuration is read: scripts rely on GNU's bytes. If stdout
//! is a pipe, only the file that `DLS_CONFIG` names is opened. So a listing into a pipe makes no additional system
//! call, and a listing on a terminal makes one `openat` if there is no file.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod location;
mod parse;
mod template;

use crate::args::flags::{self, Flag};
use crate::args::{Args, Said};
use crate::environment::Environment;
use crate::errno;
use crate::explain::visible;
use crate::message::Message;
use crate::output::Output;
use crate::program::{self, is_drop_in};
use crate::status::Status;
use alloc::ffi::CString;
use alloc::format;
use alloc::vec::Vec;
use dents_sys::{Errno, file};
use location::Location;
use parse::Config;

/// A file larger than this is none that a person wrote.
const LIMIT: usize = 64 * 1024;

/// Puts the options of the file before those of the command line, and applies `CLICOLOR_FORCE` and `NO_COLOR`.
///
/// Returns the environment with the settings of the file, if it has any. Each mistake in the file gets a line on
/// stderr; all other lines are used, and the exit status does not change.
pub(crate) fn add<'a>(
    environment: &Environment<'a>,
    args: &mut Args<'a>,
    program: &[u8],
    out: &mut Output<'_>,
) -> Option<Environment<'a>> {
    if is_drop_in(program) {
        return None;
    }
    let place = match args.said.iter().any(|said| said.flag == Flag::NoConfig) {
        true => Location::Forbidden,
        false => location::of(environment, out.terminal().is_some()),
    };
    let config = match &place {
        Location::File { path, only_always, named } => {
            let reader = Reader { path, named: *named, program };
            reader.read(*only_always, out)
        }
        _ => None,
    };
    if args.said.iter().any(|said| said.flag == Flag::Explain) {
        explain(&place, config.as_ref(), out);
    }
    let Config { mut said, colors, icons, .. } = config.unwrap_or_default();
    if !said.is_empty() {
        give_way(&mut said, args, out);
    }
    say_before(environment, args, said);
    set(environment, colors, icons)
}

/// Options that Plan refuses together.
const RIVALS: [(Flag, &[Flag]); 3] = [
    (Flag::Tree, &[Flag::Json, Flag::Ndjson, Flag::Csv, Flag::Count, Flag::Top]),
    (Flag::Summary, &[Flag::Csv]),
    (Flag::Dired, &[Flag::Zero]),
];

fn are_rivals(a: Flag, b: Flag) -> bool {
    RIVALS
        .iter()
        .any(|(one, others)| (a == *one && others.contains(&b)) || (b == *one && others.contains(&a)))
}

/// If two options exclude each other, and the later one is on the command line, the one in the file is dropped: a
/// valid command line must not become invalid because of a file.
#[cold]
#[inline(never)]
fn give_way(before: &mut Vec<Said<'_>>, args: &Args<'_>, out: &mut Output<'_>) {
    let all: Vec<Flag> = before.iter().chain(&args.said).map(|said| said.flag).collect();
    let is_explained = all.contains(&Flag::Explain);
    let mut nth = 0;
    before.retain(|said| {
        nth += 1;
        let rival = all[nth..].iter().find(|later| are_rivals(said.flag, **later));
        if let Some(rival) = rival.filter(|_| is_explained) {
            let name =
                |flag| flags::all().find(|definition| definition.flag == flag).and_then(|one| one.long);
            let (passed, rival) = (name(said.flag).unwrap_or_default(), name(*rival).unwrap_or_default());
            out.message(format!("config: --{passed} is passed over for --{rival}\n").as_bytes());
        }
        rival.is_none()
    });
}

/// Options of the file, then of the environment, then of the command line.
fn say_before<'a>(environment: &Environment<'a>, args: &mut Args<'a>, mut before: Vec<Said<'a>>) {
    let is_on = |value: Option<&[u8]>| value.is_some_and(|value| !value.is_empty());
    let forced = environment.clicolor_force;
    if is_on(environment.no_color) {
        before.retain(|said| said.flag != Flag::Color);
    } else if is_on(forced) && forced != Some(b"0") {
        before.push(Said { flag: Flag::Color, value: Some(b"always") });
    }
    if !before.is_empty() {
        args.defaults = before.len();
        before.append(&mut args.said);
        args.said = before;
    }
}

/// The environment; these values are used where a variable is not set.
#[inline(never)]
fn set<'a>(
    environment: &Environment<'a>,
    colors: Option<&'static [u8]>,
    icons: Option<&'static [u8]>,
) -> Option<Environment<'a>> {
    if colors.is_none() && icons.is_none() {
        return None;
    }
    Some(Environment {
        dls_colors: environment.dls_colors.or(colors),
        dls_icons: environment.dls_icons.or(icons),
        ..environment.clone()
    })
}

/// Reads one file, and reports its mistakes.
struct Reader<'r> {
    path: &'r CString,
    /// Whether `DLS_CONFIG` names it: then a missing file is an error.
    named: bool,
    program: &'r [u8],
}

impl Reader<'_> {
    #[cold]
    #[inline(never)]
    fn read(&self, only_always: bool, out: &mut Output<'_>) -> Option<Config> {
        let text = match file::read_to_end(self.path, LIMIT) {
            Ok(text) => text,
            Err(Errno::NOENT | Errno::NOTDIR) if !self.named => return None,
            Err(errno) => {
                self.cannot(errno, out);
                return None;
            }
        };
        let config = parse::parse(text, only_always);
        for mistake in &config.mistakes {
            let line = format!(":{}", mistake.line);
            let place = [program::base(self.program), b": ", self.path.as_bytes(), line.as_bytes()].concat();
            let message = mistake.what.message(&place, out.language());
            out.message(&message);
        }
        if config.gave_up {
            let text = "more mistakes are not told: is this a file of options, one on a line?";
            Message::new(self.program).text(self.path.as_bytes()).text(": ").text(text).send(out);
        }
        Some(config)
    }

    fn cannot(&self, errno: Errno, out: &mut Output<'_>) {
        let path = out.language().quote(self.path.as_bytes());
        let message = Message::new(self.program);
        if errno == Errno::FBIG {
            let text = format!(" is larger than {} KiB: no line of it is used", LIMIT / 1024);
            return message.text(path).text(text).send(out);
        }
        if errno == Errno::SPIPE {
            return message.text(path).text(" is not a regular file: no line of it is used").send(out);
        }
        let way_out = " (--no-config does without it)";
        message.text("cannot read options from ").text(path).errno(errno).text(way_out).send(out);
    }
}

/// For `--explain`: which file it was and which lines of it hold; if none does though one was wanted, why.
#[cold]
#[inline(never)]
fn explain(place: &Location, config: Option<&Config>, out: &mut Output<'_>) {
    let mut text = Vec::from(&b"config: "[..]);
    match (place, config) {
        (Location::File { path, .. }, Some(config)) => {
            text.extend_from_slice(path.as_bytes());
            let lines = &config.used;
            text.extend_from_slice(if lines.is_empty() { b": no line of it applies here" } else { b"" });
            for (line, content) in lines {
                text.extend_from_slice(format!("\n  line {line}: ").as_bytes());
                text.extend_from_slice(content);
            }
        }
        (Location::File { path, .. }, None) => {
            text.extend_from_slice(b"none in ");
            text.extend_from_slice(path.as_bytes());
        }
        (Location::Forbidden, _) => text.extend_from_slice(b"none: --no-config"),
        (Location::Disabled, _) => text.extend_from_slice(b"none: DLS_CONFIG is empty"),
        // No file is read if stdout is a pipe, so there is nothing to explain.
        (Location::NoTerminal, _) => return,
        (Location::NoHome, _) => {
            text.extend_from_slice(b"none: neither XDG_CONFIG_HOME nor HOME is an absolute path");
        }
    }
    text.push(b'\n');
    out.message(visible(&text).as_bytes());
}

/// `--init`: writes the file where `dls` will read it, and prints its path.
#[cold]
#[inline(never)]
pub(crate) fn init(environment: &Environment<'_>, program: &[u8], out: &mut Output<'_>) -> Status {
    use dents_render::Sink as _;
    // As on a terminal: in a pipe the path is wanted too, to open an editor with.
    let Location::File { path, .. } = location::of(environment, true) else {
        let why = "--init: neither XDG_CONFIG_HOME nor HOME is an absolute path: name a file in DLS_CONFIG";
        Message::new(program).text(why).send(out);
        return Status::Serious;
    };
    match location::create(&path, template::text().as_bytes()) {
        Ok(()) => {
            out.buffer().extend_from_slice(path.as_bytes());
            out.buffer().push(b'\n');
            let effect =
                "--init: names have colours on a terminal now; the file has all other options, commented out";
            Message::new(program).text(effect).send(out);
            Status::Ok
        }
        Err(errno) => {
            let quoted = out.language().quote(path.as_bytes());
            let message = Message::new(program).text("--init: cannot write ").text(quoted).text(": ");
            let message = message.text(errno::message(errno));
            let way_out = if errno == Errno::EXIST { "; edit it, or move it away first" } else { "" };
            message.text(way_out).send(out);
            Status::Serious
        }
    }
}
