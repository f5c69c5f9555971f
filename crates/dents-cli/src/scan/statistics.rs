//! `-s`: what was found, and what it took.

use super::Done;
use crate::message;
use crate::progress::grouped;
use dents::needs::Kind;
use dents::tree::Tally;
use std::time::Duration;

/// What types are called in numbers.
const WORDS: [(Kind, &str); 9] = [
    (Kind::Dir, "directories"),
    (Kind::Reg, "files"),
    (Kind::Link, "links"),
    (Kind::Fifo, "fifos"),
    (Kind::Sock, "sockets"),
    (Kind::Char, "character devices"),
    (Kind::Block, "block devices"),
    (Kind::Whiteout, "whiteouts"),
    (Kind::Unknown, "others"),
];

/// Shows the figures on standard error: entries by type, requests, time.
pub(crate) fn say(done: &Done, time: Duration) {
    for line in lines(done, time) {
        message::say(line.as_bytes());
    }
}

fn lines(done: &Done, time: Duration) -> [String; 3] {
    let Tally { directories, entries, reads, stats, workers, faults, .. } = done.tally;
    let found = WORDS.iter().map(|(kind, word)| (done.kinds[*kind as usize], word));
    let found: Vec<String> = found
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", grouped(count)))
        .collect();
    let [opened, reads, asked, avoided, faults] =
        [directories, reads, stats, entries.saturating_sub(stats), faults].map(grouped);
    let seconds = time.as_secs_f64();
    let rate = grouped((entries as f64 / seconds.max(1e-9)) as u64);
    [
        format!("{} entries: {}", grouped(entries), found.join(", ")),
        format!(
            "{opened} directories opened, {reads} reads, {asked} stats, {avoided} avoided, {faults} failed"
        ),
        format!("{seconds:.3} s, {rate} entries a second, {workers} workers"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents::tree::End;

    #[test]
    fn the_lines() {
        let mut kinds = [0; 16];
        kinds[Kind::Dir as usize] = 2;
        kinds[Kind::Reg as usize] = 1998;
        let tally =
            Tally { directories: 2, entries: 2000, reads: 4, stats: 1, workers: 2, ..Tally::default() };
        let done = Done { end: End::Complete, tally, kinds, root_failed: false, renamed: None };
        let lines = lines(&done, Duration::from_millis(500));
        assert_eq!(lines[0], "2,000 entries: 2 directories, 1,998 files");
        assert_eq!(lines[1], "2 directories opened, 4 reads, 1 stats, 1,999 avoided, 0 failed");
        assert_eq!(lines[2], "0.500 s, 4,000 entries a second, 2 workers");
    }
}
