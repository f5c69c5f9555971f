//! One sequence of entries that several workers read from different positions: the names of one huge directory.
//!
//! A span is a run of consecutive entries that one worker reads, buffer by buffer. A worker without a span tries to split
//! the span with the most reads left: it reads one buffer at a position in the middle. The first entries of that buffer are
//! the marks of a new span. The worker before reads until it meets a mark.
//!
//! ```text
//! span 0 ─────────► marks of 2 ──────────► marks of 1 ──────────► end
//!   first worker      third worker           second worker
//! ```
//!
//! - Two facts make sure that an entry that exists throughout is read once: it keeps its position, and all workers meet
//!   such entries in the same order. So a worker that meets a mark has read what is before the mark, and the other worker
//!   reads the mark and what is behind it.
//! - Entries may disappear before the worker before meets them, so there are many marks. If all have disappeared, it meets
//!   none, reads to the end, and [`Spans::order`] leaves out the spans that it has passed. That costs time, never an entry.
//! - Where positions ascend, a split in the middle halves the work. The order of positions is used only for that.
//!
//! Publishing rule: one locked step checks that the worker before has not passed the marks, and publishes them. A worker
//! asks for the marks after each read, in the step that publishes how far it has come. So it sees the marks before
//! it has passed them, or the split is refused.
//!
//! Costs: one lock for each read and each split.

use crate::crew::{Crew, Next, Order};
use crate::lock::Mutex;
use crate::sync::{Fault, broken};
use alloc::vec;
use alloc::vec::Vec;

/// Entries at the beginning of a span that end the span before. Deletions must hit all of them while they are read to
/// make a split useless.
pub const MARKS: usize = if cfg!(feature = "model") { 1 } else { 64 };

/// Positions of the first entries of a span, ascending.
pub type Marks = [u64; MARKS];

/// A span is split if it has at least this many reads left, as far as its last read tells.
const WORTH_SPLITTING: u64 = 4;

/// A worker's next task.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Read one buffer of this span, then call [`Spans::advance`], and [`Spans::finish`] after the last.
    Read(usize),
    /// Read one buffer at this position, then call [`Spans::split`].
    Split {
        /// The span to split.
        span: usize,
        /// A position in the middle of its rest.
        at: u64,
    },
}

/// A worker's own state: the span that it reads.
pub type Own = Option<usize>;

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its worker met a mark of this span.
    Met(usize),
    /// Its worker read to the end of the sequence, or failed.
    Last,
}

#[derive(Debug)]
struct Span {
    /// The highest position of the last read.
    at: u64,
    /// The number of positions in the last read.
    stride: u64,
    /// A position behind its last entry, as far as is known.
    until: u64,
    /// The span behind it.
    next: Option<(usize, Marks)>,
    /// Whether a worker tries to split it.
    is_split: bool,
    end: Option<End>,
}

impl Span {
    fn reads_left(&self) -> u64 {
        self.until.saturating_sub(self.at) / self.stride.max(1)
    }
}

/// The spans. The first belongs to the worker that begins with `Some(0)`.
#[derive(Debug)]
pub struct Spans(Mutex<Vec<Span>>);

impl Spans {
    /// One span: its last read had the positions `read`, and it ends before the position `until`.
    #[must_use]
    pub fn new(read: (u64, u64), until: u64) -> Spans {
        let (at, stride) = (read.1, read.1.saturating_sub(read.0));
        Spans(Mutex::new(vec![Span { at, stride, until, next: None, is_split: false, end: None }]))
    }

    /// A worker has read entries of its span, with positions from `low` to `high`. Returns the marks of the next span if the
    /// worker may have met one of them.
    pub fn advance(&self, span: usize, (low, high): (u64, u64)) -> Option<Marks> {
        let span = &mut self.0.lock()[span];
        (span.at, span.stride) = (high, high.saturating_sub(low));
        let (_, marks) = span.next?;
        (marks[0] <= high && marks[MARKS - 1] >= low).then_some(marks)
    }

    /// A worker has read its span: it has met a mark of the next span, or there are no more entries, or it failed.
    pub fn finish(&self, own: &mut Own, has_met: bool) {
        let Some(span) = own.take() else { return };
        let span = &mut self.0.lock()[span];
        let next = span.next.filter(|_| has_met);
        span.end = Some(next.map_or(End::Last, |(next, _)| End::Met(next)));
    }

    /// A worker without a span has read one buffer at the position `at`, and found the marks if there are enough entries. Returns
    /// whether the span was split: then the worker has a span, which begins at the first mark. Otherwise it must drop what it
    /// has read.
    pub fn split(&self, own: &mut Own, span: usize, at: u64, marks: Option<&Marks>, crew: &Crew) -> bool {
        let mut spans = self.0.lock();
        let (new, before) = (spans.len(), &mut spans[span]);
        before.is_split = false;
        let is_ahead = |marks: &&Marks| marks[0] > before.at || broken(Fault::SplitBehind);
        let is_within = |marks: &&Marks| marks[MARKS - 1] < before.until && before.end.is_none();
        let accepted = marks.filter(is_ahead).filter(is_within).copied();
        if let Some(marks) = accepted {
            let (until, next) = (before.until, before.next.replace((new, marks)));
            (before.until, *own) = (marks[0], Some(new));
            let stride = before.stride;
            spans.push(Span { at: marks[0], stride, until, next, is_split: false, end: None });
        } else if at > before.at {
            // Too few entries from there on, or others: tmpfs begins anew below its lowest position. The next try is nearer.
            before.until = before.until.min(at);
        }
        drop(spans);
        crew.announce(usize::MAX);
        accepted.is_some()
    }

    /// The spans that make up the sequence, in order. Call it after all workers have returned.
    #[must_use]
    pub fn order(self) -> Vec<usize> {
        let spans = self.0.into_inner();
        let next = |span: &usize| match spans[*span].end {
            Some(End::Met(next)) => Some(next),
            _ => None,
        };
        core::iter::successors(Some(0), next).collect()
    }
}

/// The worker that begins with the first span is counted as a producer ([`Crew::new`], [`Crew::work_on`]).
impl Order for Spans {
    type Task = Task;
    type Local = Own;

    fn next(&self, own: &mut Own) -> Next<Task> {
        if let Some(span) = *own {
            return Next::Task(Task::Read(span));
        }
        let mut spans = self.0.lock();
        let whole = spans.iter_mut().enumerate().filter(|(_, span)| span.end.is_none() && !span.is_split);
        match whole.max_by_key(|(_, span)| span.reads_left()) {
            Some((number, span)) if span.reads_left() >= WORTH_SPLITTING => {
                span.is_split = true;
                Next::Task(Task::Split { span: number, at: span.at + (span.until - span.at) / 2 })
            }
            _ => Next::Later,
        }
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use crate::limit::Limit;

    fn marks(first: u64) -> Marks {
        core::array::from_fn(|nth| first + nth as u64)
    }

    #[test]
    fn the_widest_span_is_split_in_the_middle() {
        let (spans, crew) = (Spans::new((0, 100), 100_100), Crew::new(Limit::fixed(), 1));
        let (mut one, mut other) = (Some(0), None);
        assert_eq!(spans.next(&mut one), Next::Task(Task::Read(0)));
        assert_eq!(spans.next(&mut other), Next::Task(Task::Split { span: 0, at: 50_100 }));
        assert_eq!(spans.next(&mut None), Next::Later, "another worker splits it");
        assert!(spans.split(&mut other, 0, 50_100, Some(&marks(50_200)), &crew));
        assert_eq!((other, spans.next(&mut other)), (Some(1), Next::Task(Task::Read(1))));
        assert_eq!(spans.advance(0, (101, 40_000)), None, "far from the marks");
        let mut third = None;
        assert_eq!(spans.next(&mut third), Next::Task(Task::Split { span: 1, at: 75_150 }));
        assert!(spans.split(&mut third, 1, 75_150, Some(&marks(75_150)), &crew));
        assert_eq!(spans.advance(0, (40_001, 50_210)), Some(marks(50_200)));
        spans.finish(&mut one, true);
        assert_eq!(one, None);
        spans.finish(&mut third, false);
        spans.finish(&mut other, true);
        assert_eq!(spans.next(&mut one), Next::Later, "nothing is left");
        assert_eq!(spans.order(), [0, 1, 2]);
    }

    #[test]
    fn a_useless_split_is_refused() {
        let (spans, crew) = (Spans::new((0, 10), 1_000), Crew::new(Limit::fixed(), 1));
        let mut own = None;
        assert!(!spans.split(&mut own, 0, 505, None, &crew), "nothing is there");
        assert_eq!(
            spans.next(&mut own),
            Next::Task(Task::Split { span: 0, at: 257 }),
            "so the rest is shorter"
        );
        assert!(!spans.split(&mut own, 0, 257, Some(&marks(460)), &crew), "the last mark is behind the end");
        spans.advance(0, (190, 200));
        assert!(!spans.split(&mut own, 0, 190, Some(&marks(190)), &crew), "the other worker has passed it");
        assert_eq!(spans.next(&mut own), Next::Task(Task::Split { span: 0, at: 228 }), "further on");
        assert!(!spans.split(&mut own, 0, 228, Some(&marks(5)), &crew), "the position led back");
        assert_eq!((own, spans.next(&mut own)), (None, Next::Later), "too little is left");
        spans.finish(&mut Some(0), false);
        assert!(!spans.split(&mut own, 0, 201, Some(&marks(201)), &crew), "the span has ended");
        assert_eq!(spans.order(), [0]);
    }

    #[test]
    fn a_span_whose_marks_were_not_met_is_left_out() {
        let (spans, crew) = (Spans::new((0, 10), 100_000), Crew::new(Limit::fixed(), 1));
        let mut other = None;
        assert!(spans.split(&mut other, 0, 50_000, Some(&marks(50_000)), &crew));
        spans.finish(&mut other, false);
        spans.finish(&mut Some(0), false);
        assert_eq!(spans.order(), [0]);
    }
}
