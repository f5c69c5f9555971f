//! `--verify`: what is no longer the same is left out, and counted.

use crate::{assert_fine, dents, make, sorted};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, run, text};

#[test]
fn only_what_is_still_the_same() {
    let place = TempDir::new("verify").expect("a directory");
    make(place.path(), "mkdir -p t/d t/e; for n in same changed other gone d/f e/g; do echo > t/$n; done");
    let files = ["t.parquet", "t.ndjson", "t.sqlite", "ns.parquet"];
    for file in files {
        let units: &[&str] = if file.starts_with("ns") { &["--timestamps=ns"] } else { &[] };
        assert_fine(&run(&dents(place.path()).args(["-o", file, "t"]).args(units)));
    }
    let verified = |file: &str| run(&dents(place.path()).args(["--verify", "-0", "--from", file]));
    for file in files {
        let outcome = verified(file);
        assert_fine(&outcome);
        assert_eq!(sorted(&outcome.stdout, 0).len(), 9, "{file}");
    }
    // A later tick of the kernel's clock. A link takes the place of a directory, and leads to files of the same names.
    make(
        place.path(),
        "sleep 0.1; cp -a t/e copy; rm -r t/e; ln -s ../copy t/e; chmod 600 t/changed; rm t/gone; echo > new; mv new t/other",
    );
    for file in files {
        let outcome = verified(file);
        assert_eq!(sorted(&outcome.stdout, 0), ["t/d", "t/d/f", "t/same"], "{file}");
        let said = text(&outcome.stderr);
        assert!(said.contains("6 entries changed since the scan or gone: left out"), "{file}: {said}");
        assert_eq!(outcome.end, End::Exit(0), "{file}");
    }
    let only = run(&dents(place.path()).args(["--verify", "--from", "t.ndjson", "--type", "f", "t/d"]));
    assert_fine(&only);
    assert_eq!(text(&only.stdout), "t/d/f\n");
    assert_eq!(run(&dents(place.path()).args(["--verify", "t"])).end, End::Exit(2), "only for a scan");
}
