//! `-s`: entries by type, requests, time.

use super::done::Done;
use crate::message::counted;
use dents_core::needs::Kind;
use dents_core::tree::Tally;
use dents_render::quantity::grouped;
use std::time::Duration;

/// The words for one and for several of a type.
const WORDS: [(Kind, &str, &str); 9] = [
    (Kind::Dir, "directory", "directories"),
    (Kind::Reg, "file", "files"),
    (Kind::Link, "link", "links"),
    (Kind::Fifo, "fifo", "fifos"),
    (Kind::Sock, "socket", "sockets"),
    (Kind::Char, "character device", "character devices"),
    (Kind::Block, "block device", "block devices"),
    (Kind::Whiteout, "whiteout", "whiteouts"),
    (Kind::Unknown, "other", "others"),
];

/// The lines of it.
pub(super) fn lines(done: &Done, time: Duration) -> [String; 3] {
    let Tally { directories, entries, reads, stats, workers, faults, .. } = done.tally;
    let found = WORDS.iter().map(|(kind, one, many)| (done.kinds[*kind as usize], one, many));
    let found = found.filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many));
    let found: Vec<String> = found.collect();
    let opened = counted(directories, "directory", "directories");
    let (reads, asked) = (counted(reads, "read", "reads"), counted(stats, "stat", "stats"));
    let [avoided, faults] = [entries.saturating_sub(stats), faults].map(grouped);
    let seconds = time.as_secs_f64();
    let rate = counted((entries as f64 / seconds.max(1e-9)) as u64, "entry", "entries");
    let workers = counted(workers, "worker", "workers");
    [
        format!("{}: {}", counted(entries, "entry", "entries"), found.join(", ")),
        format!("{opened} opened, {reads}, {asked}, {avoided} avoided, {faults} failed"),
        format!("{seconds:.3} s, {rate} a second, {workers}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_core::tree::End;

    #[test]
    fn the_lines() {
        let mut kinds = [0; 16];
        kinds[Kind::Dir as usize] = 2;
        kinds[Kind::Reg as usize] = 1998;
        let tally =
            Tally { directories: 2, entries: 2000, reads: 4, stats: 1, workers: 2, ..Tally::default() };
        let done =
            Done { end: End::Complete, tally, kinds, root_failed: false, renamed: None, from_file: false };
        let lines = lines(&done, Duration::from_millis(500));
        assert_eq!(lines[0], "2,000 entries: 2 directories, 1,998 files");
        assert_eq!(lines[1], "2 directories opened, 4 reads, 1 stat, 1,999 avoided, 0 failed");
        assert_eq!(lines[2], "0.500 s, 4,000 entries a second, 2 workers");
    }

    #[test]
    fn one_of_a_thing_is_not_many() {
        let mut kinds = [0; 16];
        kinds[Kind::Dir as usize] = 1;
        let tally = Tally { directories: 1, entries: 1, reads: 1, stats: 1, workers: 1, ..Tally::default() };
        let lines = lines(
            &Done { end: End::Complete, tally, kinds, root_failed: false, renamed: None, from_file: false },
            Duration::from_secs(1),
        );
        assert_eq!(lines[0], "1 entry: 1 directory");
        assert_eq!(lines[1], "1 directory opened, 1 read, 1 stat, 0 avoided, 0 failed");
        assert_eq!(lines[2], "1.000 s, 1 entry a second, 1 worker");
    }
}
