//! Files for the fuzz target `parts`.

use super::{Parts, Plan, Trees};
use dents_core::batch::Time;
use std::path::Path;

/// A scan of a root.
pub(crate) fn plan(dir: &Path) -> Parts {
    let _ = std::fs::remove_file(dir.join(super::PLAN));
    let begun = Time { sec: 1_700_000_000, nsec: 0 };
    let options = vec!["--one-file-system".into(), "--type=f".into()];
    let roots = vec![b"/data".to_vec(), b"other\xff".to_vec()];
    Parts::start(dir, Plan { options, roots, trees: Trees::default(), cwd: "/".into(), begun }).expect("room")
}

/// A plan, claims, and a list of what a task left over.
#[cfg(test)]
pub(crate) fn files() -> Vec<Vec<u8>> {
    use crate::format::About;
    use crate::format::Extent;
    let dir = crate::fuzzing::TemporaryDir::new();
    let parts = plan(&dir.0);
    let claim = parts.claim(Some(2)).expect("room").expect("the roots wait");
    let attempt = parts.attempt(&claim.id);
    let names = [c"a", c"b\n", c"c\xfe", c"d"];
    names.into_iter().for_each(|name| attempt.leave(b"/data/x", name, 3, 1).expect("room"));
    let timestamps = crate::time::Unit::Micros;
    let details = crate::scan_file::Columns::empty();
    let about = About {
        program: "test",
        begun: parts.plan().begun,
        ended: None,
        timestamps,
        index: false,
        details,
        subvolumes: &[],
    };
    let shard = attempt.shard(&about).expect("room");
    attempt.commit(shard, Extent::Complete).expect("room");
    parts.claim(Some(3)).expect("room").expect("four wait");
    let left = std::fs::read_dir(dir.0.join("left")).expect("it is there");
    let left = left.map(|entry| entry.expect("it is there").path());
    let others = ["plan", "log/1", "log/2"].map(|name| dir.0.join(name));
    others.into_iter().chain(left).map(|path| std::fs::read(path).expect("it is there")).collect()
}
