//! `dls` as a function: the whole flow under std, with streams in memory.

use dents_core::owners::Getent;
use dents_core::stat::Workers;
use dents_rt::Running;
use dents_sys::Errno;
use dls::git::Programs;
use dls::output::Streams;
use dls::{Environment, System};
use std::ffi::{CStr, CString};
use std::fs;
use std::path::PathBuf;

struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..workers {
                scope.spawn(move || job(worker));
            }
            job(0);
        });
    }
}

struct NoNames;

impl Getent for NoNames {
    fn getent(&self, _: &CStr, _: &[u32]) -> Option<Vec<u8>> {
        None
    }
}

struct NoPrograms;

impl Programs for NoPrograms {
    fn start(&self, _: &[&CStr], _: &[&[u8]], _: &[&CStr], _: bool) -> Result<Running, Errno> {
        Err(Errno::NOENT)
    }
}

/// What was written, in the order of writing: `Ok` to stdout, `Err` to stderr.
#[derive(Default)]
struct Memory {
    written: Vec<Result<String, String>>,
    /// Bytes that stdout still takes, if it is not endless.
    room: Option<usize>,
    terminal: Option<u16>,
}

impl Streams for Memory {
    fn stdout(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let taken = self.room.map_or(bytes.len(), |room| room.min(bytes.len()));
        if taken == 0 {
            return Err(Errno::NOSPC);
        }
        self.room = self.room.map(|room| room - taken);
        self.written.push(Ok(String::from_utf8_lossy(&bytes[..taken]).into_owned()));
        Ok(taken)
    }

    fn stderr(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.written.push(Err(String::from_utf8_lossy(bytes).into_owned()));
        Ok(())
    }

    fn terminal(&mut self) -> Option<u16> {
        self.terminal
    }
}

fn run(args: &[&str], vars: &[(&str, &'static str)], memory: &mut Memory) -> u8 {
    let argv: Vec<CString> = ["ls"].iter().chain(args).map(|arg| CString::new(*arg).unwrap()).collect();
    let argv: Vec<&CStr> = argv.iter().map(CString::as_c_str).collect();
    let vars: Vec<CString> =
        vars.iter().map(|(name, value)| CString::new(format!("{name}={value}")).unwrap()).collect();
    let environment = Environment::read(vars.iter().map(CString::as_c_str));
    let system = System {
        workers: &Threads,
        getent: &NoNames,
        agent: &|| None,
        progress: &|_| None,
        programs: &NoPrograms,
        rings: &dents_core::ring::Rings::default(),
    };
    dls::main(&argv, &environment, &system, memory)
}

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let path = std::env::temp_dir().join(format!("dls-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("sub/below")).unwrap();
        for name in ["b", "a", ".hidden", "sub/c"] {
            fs::write(path.join(name), name).unwrap();
        }
        Tree(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_in_one_write() {
    let tree = Tree::new("plain");
    let mut memory = Memory::default();
    assert_eq!(run(&[tree.path()], &[], &mut memory), 0);
    assert_eq!(memory.written, [Ok("a\nb\nsub\n".into())]);
}

#[test]
fn messages_come_after_what_was_said_before_them() {
    let tree = Tree::new("order");
    let mut memory = Memory::default();
    let missing = format!("{}/missing", tree.path());
    assert_eq!(run(&[&missing, tree.path()], &[], &mut memory), 2);
    let message = format!("ls: cannot access '{missing}': No such file or directory\n");
    assert_eq!(memory.written, [Err(message), Ok(format!("{}:\na\nb\nsub\n", tree.path()))]);
}

#[test]
fn a_full_disk_is_told_once_at_the_end() {
    let tree = Tree::new("full");
    let mut memory = Memory { room: Some(3), ..Memory::default() };
    assert_eq!(run(&["-R", tree.path()], &[], &mut memory), 2);
    let errors: Vec<_> = memory.written.iter().filter_map(|piece| piece.as_ref().err()).collect();
    assert_eq!(errors, ["ls: write error: No space left on device\n"]);
}

#[test]
fn a_terminal_gets_columns_and_the_environment_is_heard() {
    let tree = Tree::new("terminal");
    let mut memory = Memory { terminal: Some(80), ..Memory::default() };
    assert_eq!(run(&["-a", tree.path()], &[], &mut memory), 0);
    assert_eq!(memory.written, [Ok(".  ..  .hidden\ta  b  sub\n".into())]);
    let mut memory = Memory { terminal: Some(0), ..Memory::default() };
    assert_eq!(run(&[tree.path()], &[("COLUMNS", "3")], &mut memory), 0);
    assert_eq!(memory.written, [Ok("a\nb\nsub\n".into())]);
}

#[test]
fn timing_tells_what_was_asked() {
    let tree = Tree::new("timing");
    let mut memory = Memory::default();
    assert_eq!(run(&["--timing", "--mode=classic", "-l", tree.path()], &[("TZ", "UTC0")], &mut memory), 0);
    let Some(Err(table)) = memory.written.last() else { panic!("no table: {:?}", memory.written) };
    for line in ["stats          3 made, 0 avoided", "strategy classic: as asked", "entries        3"] {
        assert!(table.contains(line), "{line:?} is not in\n{table}");
    }
    let mut memory = Memory::default();
    assert_eq!(run(&["--timing", tree.path()], &[], &mut memory), 0);
    let Some(Err(table)) = memory.written.last() else { panic!("no table: {:?}", memory.written) };
    assert!(table.contains("stats          0 made, 3 avoided"), "{table}");
}

#[test]
fn hostile_arguments_are_named_and_refused() {
    for args in [&["--threads=0"][..], &["--mode=fast"], &["-w", "x"], &["--si=1"], &["--no-such"], &["-%"]] {
        let mut memory = Memory::default();
        assert!(run(args, &[], &mut memory) > 0, "{args:?}");
        let [Err(message)] = &memory.written[..] else { panic!("{args:?}: {:?}", memory.written) };
        assert!(message.starts_with("ls: "), "{message}");
    }
}
