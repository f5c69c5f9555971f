//! `dents browse` on a real terminal: three sizes, a tree that changes, what is deleted, and the terminal afterwards.

mod tools;

use dents_lab::coming_from;
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, quote};
use dents_lab::terminal::{Terminal, drain};
use dents_lab::tmux::Screen;
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tools::{dents, run, stdout, text};

/// A shell script that runs the program, shows its status and the state of the terminal, and waits.
fn script(dir: &Path, before: &str, words: &str) -> String {
    let program = quote(Path::new(env!("CARGO_BIN_EXE_dents")).as_os_str());
    let dir = quote(dir.as_os_str());
    // The first line of stty has the size.
    format!("cd {dir}; export TZ=UTC0; stty -a | sed 1d > ../before; {before} {program} browse {words}; echo status $?
        stty -a | sed 1d | cmp - ../before && echo same; exec sleep 60\n")
}

fn begin(screen: &Screen, dir: &Path, words: &str) {
    screen.start(&script(dir, "", words)).expect("tmux");
}

/// Presses a key, and waits for a screen that has a text.
fn press(screen: &Screen, keys: &[&str], expected: &str) -> Vec<String> {
    screen.press(keys).expect("tmux");
    wait(screen, expected)
}

fn wait(screen: &Screen, expected: &str) -> Vec<String> {
    screen
        .until(|lines| lines.iter().any(|line| line.contains(expected)))
        .unwrap_or_else(|error| panic!("{expected}: {error}"))
}

/// The browser has ended with this status, and the terminal is as it was.
fn ended(screen: &Screen, status: u8) {
    let lines =
        screen.until(|lines| lines.iter().any(|line| line == "same")).expect("the terminal is restored");
    assert!(lines.iter().any(|line| *line == format!("status {status}")), "{lines:?}");
    assert_eq!(screen.state("#{alternate_on} #{mouse_any_flag} #{cursor_flag}").expect("tmux"), "0 0 1");
    screen.end().expect("tmux");
}

/// `tree/large/file` with 3 MiB, `tree/small`, and a file with two links.
fn place() -> TempDir {
    let place = TempDir::new("browse").expect("a directory");
    let at = |path: &str| place.path().join("tree").join(path);
    fs::create_dir_all(at("large/deep")).expect("a directory");
    fs::write(at("large/file"), vec![b'x'; 3 << 20]).expect("a file");
    fs::write(at("large/deep/linked"), vec![b'x'; 1 << 20]).expect("a file");
    fs::hard_link(at("large/deep/linked"), at("again")).expect("a link");
    fs::write(at("small"), "text\n").expect("a file");
    place
}

#[test]
fn three_sizes_on_a_tree_that_changes() {
    let place = place();
    let tree = place.path().join("tree");
    let (stop, storm) = (AtomicBool::new(false), tree.join("storm"));
    fs::create_dir(&storm).expect("a directory");
    std::thread::scope(|scope| {
        let _stop = OnDrop(&stop);
        scope.spawn(|| {
            for nth in 0.. {
                if stop.load(Relaxed) {
                    break;
                }
                let dir = storm.join(format!("d{}", nth % 20));
                let _ = fs::remove_dir_all(&dir);
                let _ = fs::create_dir(&dir);
                for file in 0..5 {
                    let _ = fs::write(dir.join(format!("f{file}")), "x");
                }
            }
        });
        for (columns, rows) in [(40, 12), (80, 24), (200, 50)] {
            let screen = Screen::new(columns, rows).expect("a directory");
            begin(&screen, &tree, ".");
            let lines = wait(&screen, "/large");
            assert!(lines.iter().all(|line| line.chars().count() <= columns.into()), "{lines:?}");
            // Once the scan has ended, the state is empty.
            screen
                .until(|lines| lines[0].ends_with('.') && lines[1].ends_with("/large"))
                .expect("the end of the scan");
            press(&screen, &["Enter"], "file");
            screen.resize(60, 15).expect("tmux");
            let lines = wait(&screen, "./large");
            assert!(lines[1].ends_with(" file") && lines[2].ends_with("/deep"), "{lines:?}");
            assert_eq!(lines.len(), 15);
            press(&screen, &["r"], "file");
            screen.press(&["h", "q"]).expect("tmux");
            ended(&screen, 0);
        }
    });
}

/// `i` names user and group: those of a tree by this machine, those of a scan by the scan.
#[test]
fn information_names_the_owners() {
    let place = place();
    let tree = place.path().join("tree");
    stdout(&dents(&tree, "scan -o ../s.ndjson ."));
    let [user, group] =
        ["-un", "-gn"].map(|option| tools::shell(&tree, &format!("id {option}")).trim().to_owned());
    let [uid, gid] =
        ["-u", "-g"].map(|option| tools::shell(&tree, &format!("id {option}")).trim().to_owned());
    let scan = fs::read_to_string(place.path().join("s.ndjson")).expect("a scan");
    let scan = scan.replace(&format!("\"{user}\""), "\"elsewhere\"");
    fs::write(place.path().join("s.ndjson"), scan).expect("a scan");
    for (words, user) in [(".", user.as_str()), ("--from ../s.ndjson", "elsewhere")] {
        let screen = Screen::new(80, 24).expect("a directory");
        begin(&screen, &tree, words);
        wait(&screen, "/large");
        let lines = press(&screen, &["i"], &format!("user       {user} ({uid})")).join("\n");
        assert!(lines.contains("group      ") && lines.contains(&format!(" ({gid})")), "{lines}");
        assert!(words != "." || lines.contains(&format!("group      {group} (")), "{lines}");
        screen.press(&["i", "q"]).expect("tmux");
        ended(&screen, 0);
    }
}

/// Sets a flag at the end, also after a panic.
struct OnDrop<'f>(&'f AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The sums are those of `dents du`, live and from a file.
#[test]
fn the_figures_of_du() {
    let place = place();
    let tree = place.path().join("tree");
    let sum = stdout(&dents(&tree, "du -s -h ."));
    let sum = text(&sum);
    let sum = sum.split('\t').next().expect("a size");
    stdout(&dents(&tree, "scan -o ../scan.parquet ."));
    for words in [".", "--from ../scan.parquet"] {
        let screen = Screen::new(80, 10).expect("a directory");
        begin(&screen, &tree, words);
        wait(&screen, &format!(" {sum} allocated, 5 entries"));
        // `again` is the first of its two names. The figures are drawn before it.
        let is_again = |line: &String| line.ends_with(" again");
        let lines = screen.until(|lines| lines.iter().any(is_again)).expect("again");
        let again = lines.into_iter().find(is_again).unwrap_or_default();
        assert!(again.starts_with(" H    1.0M"), "{again}");
        // Not " file": the first line has "from a file".
        press(&screen, &["Enter"], "/deep");
        screen.press(&["q"]).expect("tmux");
        ended(&screen, 0);
    }
}

#[test]
fn the_terminal_is_restored_after_signals_and_panics() {
    let place = place();
    let tree = place.path().join("tree");
    // All that end a program by default, except KILL, and INT and QUIT, which are for the programs that the browser starts: HUP, ILL, TRAP,
    // ABRT, BUS, FPE, USR1, SEGV, USR2, ALRM, TERM, STKFLT, XCPU, XFSZ, VTALRM, PROF, IO, PWR, SYS, and two real-time ones.
    for signal in [1, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 34, 64] {
        let screen = Screen::new(80, 10).expect("a directory");
        screen
            .start(&script(&tree, "ulimit -c 0; env sh -c 'echo $$ > ../pid; exec \"$@\"' sh", "."))
            .expect("tmux");
        wait(&screen, "/large");
        let pid = fs::read_to_string(place.path().join("pid")).expect("a number");
        let sent =
            Command::new("kill").args(["-s", &signal.to_string(), pid.trim()]).status().expect("it runs");
        assert!(sent.success());
        ended(&screen, 128 + signal);
    }
    // The variable works in builds with debug assertions alone, such as this one.
    let screen = Screen::new(100, 30).expect("a directory");
    screen.start(&script(&tree, "DENTS_TEST_PANIC=1", ".")).expect("tmux");
    let lines =
        screen.until(|lines| lines.iter().any(|line| line == "same")).expect("the terminal is restored");
    assert!(lines.iter().any(|line| line.contains("DENTS_TEST_PANIC is set")), "{lines:?}");
    ended(&screen, 101);
}

#[test]
fn it_stops_and_continues_and_lends_the_terminal() {
    let place = place();
    let tree = place.path().join("tree");
    let program = quote(Path::new(env!("CARGO_BIN_EXE_dents")).as_os_str());
    let screen = Screen::new(80, 12).expect("a directory");
    let dir = quote(tree.as_os_str());
    let variables = "PAGER='echo paged; sleep 3; cat' EDITOR='echo more >>' PS1='ready> '";
    screen.start(&format!("cd {dir}; export {variables}; exec sh -i\n")).expect("tmux");
    wait(&screen, "ready>");
    press(&screen, &[&format!("{program} browse ."), "Enter"], "/large");
    // `G` selects the smallest entry: `small`.
    press(&screen, &["G", "v"], "paged");
    press(&screen, &[], "/large");
    screen.press(&["e"]).expect("tmux");
    let small = tree.join("small");
    for _ in 0..500 {
        if fs::read(&small).is_ok_and(|text| text == b"text\nmore\n") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(fs::read(&small).expect("a file"), b"text\nmore\n");
    // Ctrl-C ends the pager, not the browser.
    press(&screen, &["v"], "paged");
    press(&screen, &["C-c"], "/large");
    press(&screen, &["C-z"], "topped");
    press(&screen, &["fg", "Enter"], "/large");
    press(&screen, &["Q"], "ready>");
    wait(&screen, ".");
    screen.end().expect("tmux");
}

#[test]
fn what_is_deleted_and_what_is_not() {
    let place = place();
    let tree = place.path().join("tree");
    let screen = Screen::new(80, 20).expect("a directory");
    begin(&screen, &tree, "--delete .");
    screen
        .until(|lines| lines[0].ends_with('.') && lines[1].ends_with("/large"))
        .expect("the end of the scan");
    press(&screen, &["d"], "y deletes");
    let lines = press(&screen, &["n"], "nothing was deleted");
    assert!(lines[1].ends_with("/large") && tree.join("large/file").exists());
    // `again` is another link of a file in it: its name goes, its data stays.
    press(&screen, &["d"], "4 entries, 3.1M");
    wait(&screen, "not freed: 1.0M, 1 file with other links");
    press(&screen, &["y"], "deleted 4 entries");
    let lines = screen.until(|lines| !lines[1].ends_with("/large")).expect("it is gone");
    assert!(!tree.join("large").exists() && tree.join("again").exists(), "{lines:?}");
    screen.press(&["q"]).expect("tmux");
    ended(&screen, 0);
}

/// What a filter of the command line leaves out would be deleted with its directory, and never shown.
#[test]
fn filters_and_deletion_exclude_each_other() {
    let place = place();
    let tree = place.path().join("tree");
    for filter in [
        "--type f",
        "--grep x",
        "--include *.o",
        "--exclude *.c",
        "--gitignore",
        "--no-hidden",
        "--size +1M",
        "--newer 7d",
        "--older 7d",
        "--changed-since ../scan.parquet",
        "--user 0",
        "--group 0",
        "--perm 644",
        "--links 1",
        "--inum 1",
        "--empty",
        "--min-depth 1",
        "--max-depth 1",
    ] {
        if filter.starts_with("--changed") {
            stdout(&dents(&tree, "scan -o ../scan.parquet ."));
        }
        let outcome = run(&dents(&tree, &format!("browse --delete {filter} .")));
        let option = filter.split(' ').next().unwrap_or_default();
        let stderr = text(&outcome.stderr).to_owned();
        assert_eq!(outcome.end, End::Exit(2), "{stderr}");
        assert!(
            stderr.starts_with(&format!("dents: --delete and {option} exclude each other: ")),
            "{filter}: {stderr}"
        );
        assert!(stderr.contains(&format!("leave {option} out")), "{stderr}");
    }
}

/// The filter of the browser hides names; what will be gone is counted all the same, and the question says how much is not shown.
#[test]
fn the_question_counts_what_the_filter_hides() {
    let place = place();
    let tree = place.path().join("tree");
    let screen = Screen::new(80, 20).expect("a directory");
    begin(&screen, &tree, "--delete .");
    screen
        .until(|lines| lines[0].ends_with('.') && lines[1].ends_with("/large"))
        .expect("the end of the scan");
    press(&screen, &["G", "Space"], "1 marked");
    press(&screen, &["/", "lar", "Enter"], "/lar");
    // Of `large` alone is the name shown.
    press(&screen, &["u", "d"], "4 entries, 3.1M, will be gone for ever");
    let lines = wait(&screen, "not shown: 3 entries of these, 3.1M, whose names lack \"lar\"");
    assert!(!lines.iter().any(|line| line.contains("not in the list")), "{lines:?}");
    press(&screen, &["n", "Space", "/", "BSpace", "BSpace", "BSpace", "small", "Enter"], "/small");
    press(&screen, &["d"], "marked, and not in the list now: 1 entry");
    press(&screen, &["y"], "deleted 4 entries");
    assert!(tree.join("small").exists() && !tree.join("large").exists());
    screen.press(&["q"]).expect("tmux");
    ended(&screen, 0);
}

/// What appears while the question is on the screen stays, and the next question counts it.
#[test]
fn what_is_new_since_the_question_stays() {
    let place = place();
    let tree = place.path().join("tree");
    let screen = Screen::new(80, 20).expect("a directory");
    begin(&screen, &tree, "--delete .");
    screen
        .until(|lines| lines[0].ends_with('.') && lines[1].ends_with("/large"))
        .expect("the end of the scan");
    press(&screen, &["d"], "4 entries, 3.1M");
    fs::write(tree.join("large/deep/new"), "precious").expect("a file");
    press(&screen, &["y"], "deleted 2 entries; what is new stays: d asks again");
    assert_eq!(fs::read(tree.join("large/deep/new")).expect("it is there"), b"precious");
    assert!(!tree.join("large/file").exists());
    press(&screen, &["!"], "large/deep': it has entries that were not counted");
    screen.press(&["q"]).expect("tmux");
    screen.until(|lines| lines.iter().any(|line| line.ends_with("/large"))).expect("it was scanned again");
    press(&screen, &["g", "/", "large", "Enter", "d"], "3 entries, 12K, will be gone for ever");
    press(&screen, &["y"], "deleted 3 entries");
    assert!(!tree.join("large").exists());
    screen.press(&["q"]).expect("tmux");
    ended(&screen, 0);
}

/// A chain of directories below `dir`, with a file beside every hundredth.
fn chain(dir: &Path, levels: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut at = openat(rustix::fs::CWD, dir, flags, Mode::empty()).expect("a directory");
    for level in 0..levels {
        mkdirat(&at, "d", Mode::RWXU).expect("a directory");
        if level % 100 == 0 {
            openat(&at, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).expect("a file");
        }
        at = openat(&at, "d", flags, Mode::empty()).expect("a directory");
    }
}

/// A deep directory, removed by `rm`: the library of Rust would call itself for each level.
struct Deep(PathBuf);

impl Drop for Deep {
    fn drop(&mut self) {
        let _ = Command::new("rm").arg("-rf").arg(&self.0).status();
    }
}

/// `rm -rf` can do it too. The limit of open files limits no depth.
#[test]
fn deep_trees_are_deleted_with_few_descriptors() {
    for levels in [1_500, 50_000] {
        let place = TempDir::new("deep").expect("a directory");
        let tree = Deep(place.path().join("tree"));
        let large = tree.0.join("large");
        fs::create_dir_all(&large).expect("a directory");
        chain(&large, levels);
        let screen = Screen::new(80, 20).expect("a directory");
        screen.start(&script(&tree.0, "ulimit -n 200;", "--delete .")).expect("tmux");
        let entries = dents_render::quantity::grouped((levels + levels / 100 + 1) as u64);
        wait(&screen, &format!("{entries} entries  by size"));
        press(&screen, &["d"], &format!("{entries} entries, "));
        screen.press(&["y"]).expect("tmux");
        let ends = format!("deleted {entries} entries");
        // `rm -rf` takes a while, too, where other programs use the disk.
        for _ in 0..20 {
            let ended = screen.until(|lines| lines.iter().any(|line| line.contains(&ends)));
            if ended.is_ok() {
                break;
            }
        }
        assert!(!large.exists());
        screen.press(&["q"]).expect("tmux");
        screen.end().expect("tmux");
    }
}

/// A bind mount below a directory that is deleted: its files stay. Without user namespaces nothing is tested.
#[test]
fn mounts_are_not_entered() {
    let place = place();
    let tree = place.path().join("tree");
    for dir in ["outside", "tree/large/mount"] {
        fs::create_dir(place.path().join(dir)).expect("a directory");
    }
    fs::write(place.path().join("outside/precious"), "x").expect("a file");
    let screen = Screen::new(80, 20).expect("a directory");
    let program = quote(Path::new(env!("CARGO_BIN_EXE_dents")).as_os_str());
    let dir = quote(tree.as_os_str());
    let inner = format!("mount --bind ../outside large/mount && exec {program} browse --delete .");
    screen
        .start(&format!(
            "cd {dir}; unshare -rm sh -c {} || echo refused; exec sleep 60\n",
            quote(inner.as_ref())
        ))
        .expect("tmux");
    let lines = screen.until(|lines| {
        lines.iter().any(|line| line == "refused") || lines[0].ends_with(" .") && lines[1].ends_with("/large")
    });
    if lines.expect("the end of the scan").iter().any(|line| line == "refused") {
        println!("without user namespaces there are no mounts here");
        return screen.end().expect("tmux");
    }
    press(&screen, &["d"], "y deletes");
    press(&screen, &["y"], "! shows what could not be done");
    press(&screen, &["!"], "large/mount': it is a mount point");
    assert!(place.path().join("outside/precious").exists());
    assert!(!tree.join("large/file").exists() && tree.join("large/mount").exists());
    // What is left was scanned again.
    press(&screen, &["!", "Down", "Enter"], "/mount");
    screen.end().expect("tmux");
}

/// The rows of docs/COMING_FROM.md that need a terminal.
#[test]
fn every_row_of_the_page_for_newcomers() {
    let ground = coming_from::ground().expect("a directory");
    stdout(&dents(ground.path(), "scan --format ncdu -o scan.json ."));
    let rows = coming_from::rows("dents").into_iter().filter(coming_from::Row::needs_terminal);
    let mut ran = 0;
    for row in rows {
        let screen = Screen::new(80, 12).expect("a directory");
        let words = row.ours.strip_prefix("dents browse ").expect("words");
        begin(&screen, ground.path(), words);
        wait(&screen, "/docs");
        screen.press(&["q"]).expect("tmux");
        ended(&screen, 0);
        ran += 1;
    }
    assert!(ran >= 3, "{ran}");
}

#[test]
fn errors_before_the_first_frame() {
    let place = place();
    let tree = place.path().join("tree");
    let outcome = run(&dents(&tree, "browse ."));
    assert_eq!(outcome.end, End::Exit(2));
    assert!(
        text(&outcome.stderr).contains("dents du and dents report write to files"),
        "{}",
        text(&outcome.stderr)
    );
    let screen = Screen::new(100, 20).expect("a directory");
    begin(&screen, &tree, "missing");
    wait(&screen, "dents: cannot access 'missing': No such file or directory");
    ended(&screen, 1);
}

/// A browser that leads a session of its own, and our end of its terminal.
fn on_a_terminal(dir: &Path, rows: u16, columns: u16, before: &str) -> (Child, fs::File) {
    let terminal = Terminal::open(80).expect("a terminal");
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal.slave, size).expect("a terminal");
    let mut command = Command::new("setsid");
    let script = format!("{before} exec \"$@\"");
    command.args(["--ctty", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_dents"), "browse", "."]);
    command.current_dir(dir).env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let end = || terminal.slave.try_clone().expect("a descriptor");
    command.stdin(end()).stdout(end()).stderr(end());
    (command.spawn().expect("setsid"), terminal.master)
}

/// Reads what is drawn until it has this text.
fn read_until(master: &mut fs::File, expected: &str) {
    let (mut drawn, mut piece) = (Vec::new(), [0; 1 << 16]);
    while !String::from_utf8_lossy(&drawn).contains(expected) {
        let length = master.read(&mut piece).unwrap_or_else(|error| {
            panic!("{expected}: {error}: {}", String::from_utf8_lossy(&drawn));
        });
        drawn.extend_from_slice(&piece[..length]);
    }
}

/// How it ended, within this time.
fn ends_within(child: &mut Child, seconds: u64) -> Option<End> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(seconds) {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status.into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    None
}

/// The window is closed, or the connection is lost.
#[test]
fn a_terminal_that_goes_away_ends_the_browser() {
    let place = place();
    // Many times: in one of ten runs the main thread drew meanwhile and panicked, or handled the signal on a stack that was freed.
    for (run, before) in ["trap '' HUP;", ""].repeat(20).into_iter().enumerate() {
        let (mut child, mut master) = on_a_terminal(&place.path().join("tree"), 24, 80, before);
        read_until(&mut master, "large");
        // The help is drawn.
        master.write_all(b"?").expect("a terminal");
        std::thread::sleep(Duration::from_micros(200) * (run / 2) as u32);
        drop(master);
        // Without the trap, either the signal or the watch is faster.
        let end = ends_within(&mut child, 5);
        let is_right = end == Some(End::Exit(129)) || before.is_empty() && end == Some(End::Signal(1));
        assert!(is_right, "{before:?}: {end:?}");
    }
}

/// A size that no terminal has, and that a program could set.
#[test]
fn a_terminal_of_any_size() {
    let place = place();
    for (rows, columns) in [(u16::MAX, u16::MAX), (1, u16::MAX), (u16::MAX, 1)] {
        let (mut child, mut master) = on_a_terminal(&place.path().join("tree"), rows, columns, "");
        read_until(&mut master, "\x1b[?1006h");
        master.write_all(b"q").expect("a terminal");
        // What is left to be drawn, a million cells.
        let rest = std::thread::spawn(move || drain(&mut master));
        assert_eq!(ends_within(&mut child, 20), Some(End::Exit(0)), "{rows} {columns}");
        rest.join().expect("no panic").expect("it is read");
    }
}
