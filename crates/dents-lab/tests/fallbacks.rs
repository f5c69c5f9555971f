//! Facilities that slow file systems are listed with, and that some kernels, sandboxes and containers do not have: the
//! listing is the same without them.

use std::path::Path;
use std::time::Duration;

use dents_lab::fixture::mix;
use dents_lab::process::{End, Run, done};
use dents_lab::slowfs::{Kind, Request, SlowFs};
use dents_lab::suite::{checked, is_root};
use dents_lab::syscalls::trace_with;

fn dls(dir: &Path, args: &[&str]) -> Run {
    Run::new(checked().path()).cwd(dir).args(args)
}

/// A kernel (or a filter) that refuses `AT_STATX_DONT_SYNC` is asked with it once.
#[test]
fn lazy_where_it_is_refused() {
    // So few that one thread asks: strace counts calls by thread.
    let dir = mix(&std::env::temp_dir(), 120).expect("fixture");
    for extra in [&["--mode=classic"][..], &["--mode=auto"], &["--mode=auto", "--color=always"]] {
        let plain = done(&dls(dir.path(), &["-l"]).args(extra));
        let lazy = dls(dir.path(), &["-l", "--lazy"]).args(extra);
        // The first `statx` of all is that which tries.
        let refused = trace_with(&lazy, &["statx:error=EINVAL:when=1"]).expect("strace");
        let stats: Vec<_> = refused.calls().iter().filter(|call| call.name == "statx").collect();
        assert!(stats[0].text.contains("AT_STATX_DONT_SYNC"), "{extra:?}: {}", stats[0].text);
        let asked = stats.iter().filter(|call| call.text.contains("AT_STATX_DONT_SYNC")).count();
        assert_eq!((asked, refused.outcome.end), (1, End::Exit(0)), "{extra:?}");
        assert!(refused.outcome.stdout == plain.stdout && refused.outcome.stderr.is_empty(), "{extra:?}");
        let taken = trace_with(&lazy, &[]).expect("strace");
        let asked = taken.calls().iter().filter(|call| call.text.contains("AT_STATX_DONT_SYNC")).count();
        assert!(asked > 20, "{extra:?}: {asked}");
    }
}

/// Runs it in a namespace where /proc is an empty directory.
fn without_proc(run: Run) -> Run {
    let hidden = "mount --make-rprivate / && mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    run.under(&["unshare", "-m", "sh", "-c", hidden])
}

/// Far away an entry is held, and its attributes are asked through /proc; without it by name. And stuck threads are found
/// by the time alone.
#[test]
fn far_away_without_proc() {
    if !is_root() {
        println!("skipped: not root, so /proc cannot be taken away");
        return;
    }
    let mut builder = SlowFs::builder().entries(600, &[Kind::File, Kind::Directory, Kind::Link]);
    for n in (0..600).step_by(7) {
        builder = builder.xattr(format!("e{n:05}"), "security.selinux", b"user:role:type:s0");
    }
    let Some(far) = builder.latency(Duration::from_micros(500)).mount_or_skip() else { return };
    for args in [&["-l"][..], &["-lZ"], &["-lL"], &["-l", "--lazy"], &["-l", "--timeout=20s"], &["-lU"]] {
        let plain = done(&dls(far.path(), args));
        far.reset_counts();
        let bare = done(&without_proc(dls(far.path(), args)));
        assert!(bare.stdout == plain.stdout && bare.stderr.is_empty(), "{args:?}");
        // Each request about attributes, and each `readlink`, looks the name up again.
        let counts = far.counts();
        assert!(counts.of(Request::Lookup) <= 3 * 600, "{args:?}: {counts}");
    }
    far.fault("e00100", Request::STAT, dents_lab::slowfs::Fault::Hang).expect("it is there");
    let outcome = without_proc(dls(far.path(), &["-l", "--timeout=3s"])).output().expect("it runs");
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let unknown: Vec<&str> = text.lines().filter(|line| line.contains(" ? ? ")).collect();
    assert_eq!((outcome.end, text.lines().count(), unknown.len()), (End::Exit(1), 601, 1), "{unknown:?}");
}
