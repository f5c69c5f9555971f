//! The time that a rotating disk takes for a read: one head, which moves, waits for the platter to turn, and transfers.

use std::ops::Sub;
use std::time::Duration;

/// A disk's speed: one of 7,200 turns per minute, filled by the image. A short seek takes 1 ms, one over the whole disk 18 ms; an average
/// read at a random place takes 13 ms.
const SETTLE: Duration = Duration::from_millis(1);
const STROKE: Duration = Duration::from_millis(18);
const HALF_TURN: Duration = Duration::from_micros(4_170);
/// Bytes per second that pass under the head.
const RATE: f64 = 150e6;

/// What a disk has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Reads for which the head had to move.
    pub seeks: u64,
    /// Bytes that the head moved over in these seeks.
    pub distance: u64,
    /// The time that the reads took.
    pub busy: Duration,
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            reads: self.reads - before.reads,
            bytes: self.bytes - before.bytes,
            seeks: self.seeks - before.seeks,
            distance: self.distance - before.distance,
            busy: self.busy - before.busy,
        }
    }
}

/// The head of a disk.
#[derive(Clone, Debug)]
pub struct Head {
    size: u64,
    at: u64,
    counts: Counts,
}

impl Head {
    /// At the beginning of a disk of `size` bytes.
    pub fn new(size: u64) -> Head {
        Head { size, at: 0, counts: Counts::default() }
    }

    /// What it has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The time until data at `offset` is under the head, and whether the head must move. It need not move where the data follows: a
    /// short way ahead, waiting for it is faster than a seek.
    pub fn reach(&self, offset: u64) -> (Duration, bool) {
        let distance = self.at.abs_diff(offset);
        let share = (distance as f64 / self.size.max(1) as f64).min(1.0);
        let seek = SETTLE + (STROKE - SETTLE).mul_f64(share.sqrt()) + HALF_TURN;
        let passes = Duration::from_secs_f64(distance as f64 / RATE);
        if offset >= self.at && passes <= seek { (passes, false) } else { (seek, true) }
    }

    /// Reads, and returns the time that it takes.
    pub fn read(&mut self, offset: u64, length: u64) -> Duration {
        let (reach, moves) = self.reach(offset);
        let time = reach + Duration::from_secs_f64(length as f64 / RATE);
        self.counts.reads += 1;
        self.counts.bytes += length;
        if moves {
            self.counts.seeks += 1;
            self.counts.distance += self.at.abs_diff(offset);
        }
        self.counts.busy += time;
        self.at = offset + length;
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    #[test]
    fn what_follows_costs_its_transfer_alone() {
        let mut head = Head::new(GB);
        assert_eq!(head.read(0, 150_000), Duration::from_millis(1));
        assert_eq!(head.read(150_000, 150_000), Duration::from_millis(1));
        assert_eq!(
            head.read(450_000, 150_000),
            Duration::from_millis(2),
            "150,000 bytes pass under the head"
        );
        let expected =
            Counts { reads: 3, bytes: 450_000, busy: Duration::from_millis(4), ..Counts::default() };
        assert_eq!(head.counts(), expected);
    }

    #[test]
    fn a_seek_costs_more_the_farther_it_is() {
        let mut head = Head::new(GB);
        head.read(GB / 2, 0);
        let near = head.reach(GB / 2 - 4096);
        let far = head.reach(GB / 4);
        assert!(
            near.1 && far.1 && near.0 > SETTLE + HALF_TURN && far.0 > 2 * near.0 - HALF_TURN,
            "{near:?} {far:?}"
        );
        assert_eq!(head.reach(GB / 4).0, head.reach(3 * GB / 4).0, "in both directions");
        assert!(!head.reach(GB / 2 + 500_000).1 && head.reach(GB / 2 + 2_000_000).1);
        head.read(0, 0);
        assert_eq!(head.reach(GB), (STROKE + HALF_TURN, true));
    }

    #[test]
    fn seeks_and_their_distance_are_counted() {
        let mut head = Head::new(GB);
        for offset in [GB / 2, 0, 1000, GB / 4] {
            head.read(offset, 1000);
        }
        let before = head.counts();
        assert_eq!((before.reads, before.seeks), (4, 3));
        assert_eq!(before.distance, GB / 2 + GB / 2 + 1000 + GB / 4 - 2000);
        head.read(0, 1000);
        let since = head.counts() - before;
        assert_eq!((since.reads, since.seeks, since.distance), (1, 1, GB / 4 + 1000));
    }
}
