//! `dents browse`: what takes the space, on a terminal.
//!
//! ```text
//! tree or file ─► Scanner ─► Worker ─► Tree ─► View ─► draw ─► terminal
//!                 a thread   one for   64 bytes  rows    ratatui
//!                            each      an entry          ▲
//!                                                 keys ─► App ─► delete, pager, export
//! ```
//!
//! The list is usable from the first moment: the workers add their entries a batch at a time, and this thread draws what is there. This
//! thread makes no request to the file system, so a stuck server does not block the browser. 64 bytes and the name are kept for each
//! entry.

mod app;
mod delete;
mod draw;
mod gather;
mod keys;
mod links;
mod names;
mod owners;
mod popup;
mod question;
mod scanner;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use app::{App, Next, Program, Setting};
use dents_commands::filter::{self, Depths, Filter};
use dents_commands::message;
use dents_commands::output::Stdout;
use dents_commands::session::{Session, Status};
use dents_commands::source::Source;
use dents_commands::walk::Walk;
use dents_render::human::SizeFormat;
use dents_sys::{AsFd, tty};
use names::Names;
use ratatui::crossterm::event;
use scanner::Scanner;
use signal_hook::consts::SIGTSTP;
use signal_hook::low_level;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use terminal::Terminal;

/// Browse directories by size, also while they are scanned
///
/// Shows the largest entries first, with a bar for the share of each, and opens directories by a key: ? shows all keys, which are those of
/// ncdu and gdu. A file with several links counts once. It deletes only with --delete, and only after confirmation.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
    /// Allow deletion: the key d asks for confirmation, then deletes the marked entries, or the selected one. Mounts below them are kept
    #[arg(long, help_heading = "What is done", conflicts_with_all = ["from", "follow"])]
    delete: bool,
    /// End exported paths with a NUL instead of a newline
    #[arg(short = '0', long, help_heading = "What is done")]
    null: bool,
    /// Begin with bytes in files, not allocated space: the key a changes it
    #[arg(long, help_heading = "What is shown")]
    apparent_size: bool,
    /// Show a glyph before each name, as `dls --icons`: the terminal needs a Nerd Font
    #[arg(long, help_heading = "What is shown")]
    icons: bool,
    /// Show sizes in powers of 1000, not 1024
    #[arg(long, help_heading = "What is shown")]
    si: bool,
}

const AFTER_HELP: &str = "\
Examples:
  dents browse /home                      what takes the space
  dents browse --from home.parquet        the same from a scan
  dents browse -x --delete /              clean up, on this file system alone

Exit status: 0; 1 if no PATH could be read; 2 for a wrong command line; 128 and the number of the signal that stopped it.";

/// Without events, the screen is looked at so often.
const TICK: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_millis(250);
/// After the last key, workers have this time to end by themselves.
const PATIENCE: Duration = Duration::from_millis(200);
/// If this variable is set in a build with debug assertions, the browser panics after the first frame: a test looks at the terminal then.
const PANIC: &str = "DENTS_TEST_PANIC";

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    if !session.is_program() {
        return session.wrong("browse needs a terminal, and gives no table");
    }
    if args.delete
        && let Some(option) = args.filter.given().or_else(|| args.depths.given())
    {
        return session.wrong(&format!(
            "--delete and {option} exclude each other: a directory is deleted with all that is in it, also with what a filter does not \
             show; leave {option} out, or select with 'dents scan {option} ...' what another program deletes"
        ));
    }
    let is_terminal = tty::isatty(io::stdin().as_fd()) && tty::isatty(io::stdout().as_fd());
    if !is_terminal || std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        return session.wrong(
            "browse needs a terminal for its input and output: dents du and dents report write to files",
        );
    }
    let filter = Filter::new(&args.filter, args.depths, None);
    let file = match args.source.file().map(|file| file.open(session)).transpose() {
        Ok(file) => file,
        Err(status) => return status,
    };
    let scanner = Scanner::new();
    let (requests, received) = mpsc::channel();
    let names = Names::from_environment(args.icons, &mut |text| scanner.messages.add(text.as_bytes()));
    let mut app = App::new(&scanner, args.setting(), names, requests);
    std::thread::scope(|scope| {
        let (working, filter) = (&scanner, &filter);
        let scan = move || working.run(args, filter, file, &received);
        if let Err(error) = std::thread::Builder::new().name("scanner".to_owned()).spawn_scoped(scope, scan) {
            session.say(format!("cannot start a thread: {}", message::plain(&error)).as_bytes());
            return Status::FAILURE;
        }
        let status = browse(&mut app, session);
        scanner.session.stop();
        // A worker may be stuck in the kernel, for example on a server that does not answer. The terminal is not kept waiting for it.
        drop(app);
        let begun = Instant::now();
        while scanner.state() == scanner::State::Scanning && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        if scanner.state() == scanner::State::Scanning {
            std::process::exit(status.0.into());
        }
        status
    })
}

impl Args {
    fn setting(&self) -> Setting {
        Setting {
            may_delete: self.delete,
            is_live: self.source.path().is_none(),
            has_one_root: self.source.path().is_none() && self.walk.given().len() < 2,
            null: self.null,
            apparent: self.apparent_size,
            units: if self.si { SizeFormat::SI } else { SizeFormat::HUMAN },
        }
    }
}

/// The loop: draws, waits, acts.
fn browse(app: &mut App<'_>, session: &Session) -> Status {
    let outcome = Terminal::take().and_then(|mut terminal| {
        let outcome = until_quit(app, &mut terminal);
        drop(terminal);
        outcome
    });
    match outcome {
        Err(error) => {
            session.say(format!("cannot use the terminal: {}", message::plain(&error)).as_bytes());
            Status::FAILURE
        }
        Ok(prints) => {
            if app.has_failed() {
                app.scanner.messages.texts().iter().for_each(|text| session.say(text));
                return Status::FAILURE;
            }
            if prints { print(app) } else { Status::SUCCESS }
        }
    }
}

/// Returns whether the path is to be written.
fn until_quit(app: &mut App<'_>, terminal: &mut Terminal) -> io::Result<bool> {
    loop {
        app.tick();
        if std::mem::take(&mut app.is_stale) {
            terminal.canvas()?.draw(|frame| draw::draw(frame, app))?;
            if cfg!(debug_assertions) && std::env::var_os(PANIC).is_some() {
                panic!("{PANIC} is set");
            }
        }
        if app.has_failed() {
            return Ok(false);
        }
        let wait = if app.is_busy() { TICK } else { IDLE };
        let mut waits = event::poll(wait)?;
        while waits {
            match app.event(&event::read()?) {
                Next::Stay => {}
                Next::Quit => return Ok(false),
                Next::QuitAndPrint => return Ok(true),
                Next::Suspend => terminal.lend(|| low_level::emulate_default_handler(SIGTSTP))??,
                Next::Run(program, path) => {
                    let outcome = terminal.lend(|| program.run(&path))?;
                    app.message = outcome.err().unwrap_or_default();
                }
            }
            waits = event::poll(Duration::ZERO)?;
        }
    }
}

/// Writes the path of the directory, as `cd "$(dents browse …)"` cannot have it: it is the terminal that is drawn on.
fn print(app: &App<'_>) -> Status {
    let mut path = app.scanner.shared.lock().path(app.view.directory);
    path.push(b'\n');
    let written = Stdout::default().write_all(&path);
    if written.is_ok() { Status::SUCCESS } else { Status::FAILURE }
}

impl Program {
    /// Runs the program that the user has named in the environment.
    fn run(self, path: &[u8]) -> Result<(), String> {
        let named = |names: &[&str]| {
            names.iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
        };
        let program = match self {
            Program::Pager => named(&["PAGER"]).unwrap_or_else(|| "less".into()),
            Program::Editor => named(&["VISUAL", "EDITOR"]).unwrap_or_else(|| "vi".into()),
            Program::Shell => named(&["SHELL"]).unwrap_or_else(|| "/bin/sh".into()),
        };
        let mut command = match self {
            Program::Shell => {
                let mut shell = Command::new(&program);
                shell.current_dir(names::as_path(path));
                shell
            }
            _ => {
                // The variables are words of a shell: `less -R`.
                let mut script = program.clone().into_vec();
                script.extend_from_slice(b" \"$@\"");
                // A path is no option.
                let path = if path.starts_with(b"-") { [b"./", path].concat() } else { path.to_vec() };
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(OsString::from_vec(script)).arg("sh").arg(OsString::from_vec(path));
                shell
            }
        };
        let name = message::quoted_text(program.as_bytes());
        let ended =
            command.status().map_err(|error| format!("cannot run {name}: {}", message::plain(&error)))?;
        if ended.success() || self == Program::Shell { Ok(()) } else { Err(format!("{name}: {ended}")) }
    }
}
