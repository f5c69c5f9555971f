//! The line of `--explain` about metadata in bulk.

use dents_core::bulk::Outcome;
use dents_render::quantity::grouped;

/// Whether metadata was read in bulk, or why not. `joined` is the number of entries that it answered.
pub(super) fn report(outcome: Outcome, joined: u64) -> String {
    let why = match outcome {
        Outcome::Read(inodes) => {
            return format!("{} inodes read at once, for {} entries", grouped(inodes), grouped(joined));
        }
        Outcome::Summed(inodes) => {
            return format!("{} inodes added up at once, without names", grouped(inodes));
        }
        Outcome::NotWanted => "--bulk=never, or not needed for most entries, or the user is not root",
        Outcome::NotRoot => "PATH is not the root of a file system, or there are several PATHs",
        Outcome::Small => "the tree is small",
        Outcome::NeedsStatx => "no entry needs metadata, or --rate or -L requires one request for each",
        Outcome::Threads => "--threads; try --bulk=always",
        Outcome::Dirty => "much data waits to be written; try --bulk=always",
        Outcome::Namespace => "the owner of PATH is not known in this user namespace",
        Outcome::FileSystem => "the file system is not XFS or btrfs",
        Outcome::Mounts => "a mount maps owners (idmapped), or /proc is not mounted",
        Outcome::Refused(errno) => return format!("no: the kernel refused: {}", std::io::Error::from(errno)),
    };
    format!("no: {why}")
}
