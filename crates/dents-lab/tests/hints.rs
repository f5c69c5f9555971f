//! After a listing that took so long that the line of progress appeared, `dls` says once what would make it faster.

use std::path::Path;
use std::time::Duration;

use dents_lab::process::Run;
use dents_lab::shown::{ERASE, Shown};
use dents_lab::slowfs::{Kind, Mounted, SlowFs};
use dents_lab::suite::checked;

/// One thread takes about two seconds for its entries.
fn slow() -> Option<Mounted> {
    let builder = SlowFs::builder().entries(500, &[Kind::File, Kind::File, Kind::Directory]);
    builder.latency(Duration::from_millis(4)).mount_or_skip()
}

fn dls(path: &Path, options: &[&str]) -> Run {
    let run = Run::new(checked().path()).args(["--threads=1"]).args(options).args([path]);
    run.env("LS_COLORS", "di=1;34:ex=1;32")
}

/// The hint on the terminal of stderr, if there is one. It follows the line of progress, which the listing must have had.
fn hint(run: &Run) -> Option<String> {
    let (_, status, text) = Shown::start(run, None).end();
    assert_eq!(status, Some(0), "{text:?}");
    let (_, after) = text.rsplit_once(ERASE).expect("a line of progress");
    let mut hints = after.lines().filter(|line| line.contains("to make this faster"));
    let hint = hints.next().map(str::to_owned);
    assert_eq!((hints.next(), hint.as_deref()), (None, hint.as_ref().and(after.lines().last())), "{text:?}");
    hint
}

#[test]
fn the_cheapest_change_is_named() {
    let Some(far) = slow() else { return };
    let end = "(--explain says why; --no-hints turns hints off)";
    let expected = [
        (&["--color=always"][..], "export LS_COLORS=\"$LS_COLORS:ex=00:su=00:sg=00\""),
        (&["-F"], "give --lazy, which accepts values that the client has cached, however old"),
        (&["-F", "--lazy"], "drop `-F`"),
    ];
    for (options, advice) in expected {
        let told = hint(&dls(far.path(), options));
        assert_eq!(told, Some(format!("dls: to make this faster, {advice} {end}")), "{options:?}");
    }
}

#[test]
fn not_where_it_is_not_wanted() {
    let Some(far) = slow() else { return };
    for options in [&["-F", "--no-hints"][..], &["-F", "--explain"], &["-F", "--timing"]] {
        assert_eq!(hint(&dls(far.path(), options)), None, "{options:?}");
    }
    let drop_in = Run { argv0: "ls".into(), ..dls(far.path(), &["-F"]) };
    assert_eq!(hint(&drop_in), None, "scripts rely on the messages of ls");
}
