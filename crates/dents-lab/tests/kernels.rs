//! System calls that older kernels lack, or containers refuse: the listing is the same, and costs little more.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dents_lab::case::MODES;
use dents_lab::fixture::{TempDir, copy_program, mix};
use dents_lab::kernels::under;
use dents_lab::process::{End, Run, run as end};
use dents_lab::suite::{is_root, release};
use dents_lab::syscalls::{trace, trace_with};

/// The calls about attributes that came with Linux 6.13.
const ATTRIBUTES: &str = "listxattrat,getxattrat";

fn dls(dir: &Path, args: &[&str]) -> Run {
    Run::new(release().path()).cwd(dir).args(args)
}

fn refused(run: Run, set: &str) -> Run {
    under(run, Path::new(env!("CARGO_BIN_EXE_refuse")), set)
}

/// The listing is the same with these calls refused, in every mode.
fn assert_same(run: &Run, sets: &[&str]) {
    let expected = end(run);
    for set in sets {
        for mode in MODES.iter().filter(|mode| **mode != "iou") {
            let run = refused(run.clone().args([format!("--mode={mode}")]), set);
            if let Some(report) = dents_lab::diff::outcomes(&expected, &end(&run)) {
                panic!("{set}: {}\n{report}", run.shell());
            }
        }
    }
}

/// Directories of files, some of which have an attribute that marks them.
fn marked() -> TempDir {
    let dir = TempDir::new("marked").expect("a directory");
    for sub in ["one", "two", "one/below"] {
        fs::create_dir(dir.path().join(sub)).expect("a directory");
        for n in 0..100 {
            let file = dir.path().join(sub).join(format!("f{n}"));
            fs::write(&file, "").expect("a file");
            if n % 9 == 0 {
                let set = std::process::Command::new("setfacl").args(["-m", "u:1234:r"]).arg(&file).status();
                assert!(set.expect("setfacl starts").success());
            }
        }
    }
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("chmod");
    dir
}

#[test]
fn without_statx() {
    let dir = mix(&std::env::temp_dir(), 3000).expect("fixture");
    for options in [
        &["-l"][..],
        &["-lA", "--color=always"],
        &["-R", "-F"],
        &["-lL"],
        &["-i"],
        &["-l", "dir0", "missing"],
    ] {
        assert_same(&dls(dir.path(), options), &["statx", "EPERM:statx", "docker-2017"]);
    }
    // The time of its birth is unknown.
    let birth = end(&refused(dls(dir.path(), &["-l", "--time=birth"]), "statx"));
    assert_eq!(birth.end, End::Exit(0));
    let text = String::from_utf8_lossy(&birth.stdout).into_owned();
    assert!(text.lines().skip(1).all(|line| line.contains(" ? ")), "{text}");
}

/// A missing `statx` is detected once: by the first call, and by one that cannot concern a file.
#[test]
fn statx_is_tried_once() {
    let dir = mix(&std::env::temp_dir(), 200).expect("fixture");
    for error in ["ENOSYS", "EPERM"] {
        let fault = format!("statx:error={error}");
        let trace = trace_with(&dls(dir.path(), &["--mode=classic", "-l"]), &[&fault]).expect("strace");
        assert_eq!((trace.outcome.end, trace.count("statx")), (End::Exit(0), 2), "{error}");
    }
    // A file system that answers so about one entry is believed.
    let trace = trace_with(&dls(dir.path(), &["--mode=classic", "-l"]), &["statx:error=EPERM:when=9"]);
    let trace = trace.expect("strace");
    let stderr = String::from_utf8_lossy(&trace.outcome.stderr).into_owned();
    assert_eq!((trace.outcome.end, stderr.lines().count()), (End::Exit(1), 1), "{stderr}");
    assert!(stderr.ends_with("': Operation not permitted\n"), "{stderr}");
}

/// Without `listxattrat` a thread goes to the directory, and asks by bare name: a path through /proc takes twice as long.
#[test]
fn attributes_by_bare_name() {
    let dir = mix(&std::env::temp_dir(), 4000).expect("fixture");
    for args in [&["--mode=classic", "-al"][..], &["--mode=par", "--threads=3", "-al"]] {
        let trace = trace(&refused(dls(dir.path(), args), ATTRIBUTES)).expect("strace");
        let by_proc =
            trace.calls().iter().filter(|call| call.text.contains("\"/proc/thread-self/fd/")).count();
        assert_eq!(trace.outcome.end, End::Exit(0), "{args:?}");
        assert!(trace.count("llistxattr") >= 3990, "{args:?}: {}", trace.count("llistxattr"));
        assert!(by_proc < 40, "{args:?}: {by_proc} questions went through /proc");
    }
}

/// Relative operands are found after each directory, whatever directory the thread used meanwhile. Each thread has a
/// table of descriptors of its own: the number of a directory that it opened means nothing in others.
#[test]
fn attributes_that_several_threads_ask_for() {
    let dir = TempDir::new("kernels").expect("a directory");
    for nth in 0..400 {
        let below = dir.path().join(format!("d{}/s{nth}", nth % 40));
        fs::create_dir_all(&below).expect("a directory");
        fs::File::create(below.with_extension("f")).expect("a file");
    }
    for mode in ["--mode=par", "--mode=auto"] {
        for _ in 0..10 {
            let outcome = end(&refused(dls(dir.path(), &["-Rg", mode]), "listxattrat,getxattrat"));
            assert_eq!(String::from_utf8_lossy(&outcome.stderr), "", "{mode}");
            assert_eq!(outcome.end, End::Exit(0), "{mode}");
        }
    }
}

/// An NFS 4.2 server refuses the list of attributes of a file that the user may not read, but not its ACL; and a file may vanish before its
/// list is requested. GNU ls 9.7 reports neither, and marks only the second.
#[test]
fn lists_that_are_refused() {
    let dir = marked();
    let run = dls(&dir.path().join("one"), &["--mode=classic", "-l"]);
    let with = |fault: &str| {
        let outcome = trace_with(&refused(run.clone(), ATTRIBUTES), &[fault]).expect("strace").outcome;
        assert_eq!(outcome.end, End::Exit(0), "{fault}");
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), "", "{fault}");
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    };
    let whole = String::from_utf8_lossy(&end(&run).stdout).into_owned();
    assert!(whole.contains("-rw-r--r--+"), "{whole}");
    assert_eq!(with("llistxattr:error=EACCES"), whole, "each ACL is found by its name");
    assert_eq!(with("llistxattr,lgetxattr:error=EACCES").matches("--+").count(), 0);
    let gone = with("llistxattr:error=ENOENT");
    assert!(gone.lines().skip(1).all(|line| line.as_bytes()[10] == b'?'), "{gone}");
}

#[test]
fn attributes_of_operands_and_below() {
    let dir = marked();
    let sets = [ATTRIBUTES, "EPERM:listxattrat,getxattrat,unshare", "6.8", "docker-2017"];
    for options in [
        &["-l"][..],
        &["-l", "one", "two", "one/f9", "two/below", "one/below", "two/f8"],
        &["-lR", "one", "."],
        &["-lR", "--hyperlink=always", "two", "one"],
        &["-l", "--xattr", "one", "two"],
        &["-lZ", "one", "two"],
        &["-l", "--timeout=20s", "one", "two", "one/f9"],
        &["--tree", "-l", "one", "two"],
    ] {
        assert_same(&dls(dir.path(), options), &sets);
    }
}

/// The working directory may be removed, or closed to the user; so may the directory that is listed.
#[test]
fn attributes_from_a_directory_that_is_no_home() {
    let dir = marked();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let there: Vec<String> = [&one, &two].iter().map(|path| path.display().to_string()).collect();
    let there: Vec<&str> = there.iter().map(String::as_str).collect();
    // In a directory that was removed, by the shell that starts the listing.
    let gone = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    assert_same(&dls(dir.path(), &[&["-l"], &there[..]].concat()).under(&["sh", "-c", gone]), &[]);
    for set in [ATTRIBUTES, "6.8"] {
        let plain = dls(dir.path(), &[&["-l"], &there[..]].concat());
        let run = refused(plain.clone(), set).under(&["sh", "-c", gone]);
        assert_eq!(end(&run), end(&plain), "{set}");
    }
    if !is_root() {
        println!("not root: nothing is closed to another user");
        return;
    }
    // Everybody may execute the copies; the working directory is root's alone, and one of those listed cannot be searched.
    let programs = TempDir::new("programs").expect("a directory");
    fs::set_permissions(programs.path(), PermissionsExt::from_mode(0o755)).expect("chmod");
    let copy = |from: &Path, name: &str| {
        copy_program(from, &programs.path().join(name));
        programs.path().join(name)
    };
    let lister = copy(release().path(), "dls");
    let refuse = copy(Path::new(env!("CARGO_BIN_EXE_refuse")), "refuse");
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).expect("chmod");
    fs::set_permissions(&two, PermissionsExt::from_mode(0o744)).expect("chmod");
    let other = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    for options in [&["-l"][..], &["-l", "--timeout=20s"]] {
        let run = dls(&closed, &[options, &there[..]].concat());
        let run = Run { program: lister.clone(), argv0: lister.clone().into(), ..run };
        let expected = end(&run.clone().under(&other));
        let actual = end(&under(run, &refuse, ATTRIBUTES).under(&other));
        assert_eq!(expected.end, End::Exit(1), "{options:?}: one of them cannot be searched");
        assert!(expected.stdout.iter().filter(|byte| **byte == b'+').count() > 5, "{options:?}");
        if let Some(report) = dents_lab::diff::outcomes(&expected, &actual) {
            panic!("{options:?}:\n{report}");
        }
    }
}
