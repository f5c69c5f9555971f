//! `--tree`: each entry below its directory, on a branch.
//!
//! A hierarchy is one batch and the [`Line`]s in the order of drawing, each with its depth. The shape of the branches
//! follows from the depths, and from which line is the last of its directory.

use super::prefix::Prefix;
use crate::frame::{Frame, FrameKind, Rows};
use crate::name::Painter;
use crate::quantity::grouped;
use crate::sink::Sink;
use crate::table::{Beside, Elsewhere, Table, measure};
use crate::view::{Column, View};
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::needs::Kind;
use dents_core::team::Team;

/// A line of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The content of the line.
    pub what: What,
    /// The depth below the operand, which has depth 0.
    pub depth: u32,
    /// Whether it is the last of its directory.
    pub last: bool,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The entry at this position of the batch.
    Entry(u32),
    /// The number of entries that are not shown.
    More(u32),
    /// The tree has already shown the entries of this directory, below another path to it.
    Above,
}

/// The texts of branches.
struct Shapes {
    /// Before an entry that is not the last of its directory.
    fork: &'static [u8],
    /// Before the last.
    end: &'static [u8],
    /// Below an entry that is not the last of its directory.
    pass: &'static [u8],
    dots: &'static [u8],
}

/// Box-drawing characters in UTF-8, and similar ASCII characters elsewhere.
const LINES: Shapes =
    Shapes {
        fork: "├── ".as_bytes(), end: "└── ".as_bytes(), pass: "│   ".as_bytes(), dots: "…".as_bytes()
    };
const ASCII: Shapes = Shapes { fork: b"|-- ", end: b"`-- ", pass: b"|   ", dots: b"..." };

/// Below the last entry of a directory.
const NOTHING: &[u8] = b"    ";

/// Columns that a branch takes for each level.
const STEP: usize = 4;

/// The branch of the current line.
pub(crate) struct Branch {
    shapes: &'static Shapes,
    /// Of each depth from 1 on, whether the line above at that depth is the last of its directory.
    ended: Vec<bool>,
}

impl Branch {
    pub(crate) fn new(utf8: bool) -> Branch {
        Branch { shapes: if utf8 { &LINES } else { &ASCII }, ended: Vec::new() }
    }

    /// Appends the branch of the next line. Returns its width in columns.
    pub(crate) fn write(&mut self, line: &Line, out: &mut Vec<u8>) -> usize {
        let Some(above) = (line.depth as usize).checked_sub(1) else {
            self.ended.clear();
            return 0;
        };
        self.ended.resize(above, false);
        for ended in &self.ended {
            out.extend_from_slice(if *ended { NOTHING } else { self.shapes.pass });
        }
        self.ended.push(line.last);
        out.extend_from_slice(if line.last { self.shapes.end } else { self.shapes.fork });
        line.depth as usize * STEP
    }

    /// Appends the continuation of the branch below the last line.
    fn write_below(&self, out: &mut Vec<u8>) {
        for ended in &self.ended {
            out.extend_from_slice(if *ended { NOTHING } else { self.shapes.pass });
        }
    }

    /// Appends the text for entries that are not shown.
    fn write_more(&self, count: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(self.shapes.dots);
        out.push(b' ');
        out.extend_from_slice(grouped(u64::from(count)).as_bytes());
        out.extend_from_slice(b" more");
    }

    /// Appends the text of a line that is no entry.
    fn write_remark(&self, what: What, out: &mut Vec<u8>) {
        match what {
            What::Entry(_) => {}
            What::More(count) => self.write_more(count, out),
            What::Above => {
                out.extend_from_slice(self.shapes.dots);
                out.extend_from_slice(b" shown above");
            }
        }
    }
}

/// The entries on lines of a tree.
fn in_order(lines: &[Line]) -> Vec<u32> {
    let entry = |line: &Line| match line.what {
        What::Entry(place) => Some(place),
        What::More(_) | What::Above => None,
    };
    lines.iter().filter_map(entry).collect()
}

/// The entries that `-R` would list too: all except operands that are directories.
pub(crate) fn below(batch: &Batch, lines: &[Line]) -> Vec<u32> {
    let is_below = |line: &&Line| match line.what {
        What::Entry(place) => line.depth > 0 || batch.entry(place as usize).kind() != Kind::Dir,
        What::More(_) | What::Above => false,
    };
    let below: Vec<Line> = lines.iter().filter(is_below).copied().collect();
    in_order(&below)
}

/// Draws lines with the columns of the view before the branches.
#[cold]
#[inline(never)]
pub(crate) fn render_view(
    painter: &mut Painter<'_>,
    view: &View,
    frame: &Frame<'_>,
    lines: &[Line],
    team: &Team<'_>,
    out: &mut impl Sink,
) {
    let (batch, order) = (frame.batch, in_order(lines));
    let rows = Rows { batch, order: &order, measured: Some(&order), kind: FrameKind::Directory };
    painter.begin(rows, frame.places);
    let mut table = Table::new(painter.style(), view, frame);
    let elsewhere = Elsewhere::of_frame(frame);
    if view.columns.last() == Some(&Column::Name) {
        measure(&mut table, rows, elsewhere, painter, team);
    } else {
        let mut plain = painter.without_color();
        for line in lines {
            if let What::Entry(place) = line.what {
                let beside =
                    Beside { branch_width: line.depth as usize * STEP, ..elsewhere.of(place as usize) };
                table.measure(&batch.entry(place as usize), &beside, &mut plain);
            }
        }
    }
    if view.header && !lines.is_empty() {
        table.head(painter, out.buffer());
    }
    let mut branch = Branch::new(painter.style().locale.is_utf8());
    let (mut drawn, mut below) = (Vec::new(), Vec::new());
    for line in lines {
        drawn.clear();
        let branch_width = branch.write(line, &mut drawn);
        match line.what {
            What::Entry(place) => {
                below.clear();
                if view.xattrs {
                    branch.write_below(&mut below);
                }
                let of = elsewhere.of(place as usize);
                let beside = Beside { branch: &drawn, below: &below, branch_width, ..of };
                table.row(&batch.entry(place as usize), &beside, painter, out.buffer());
            }
            remark => {
                let mut text = Vec::new();
                branch.write_remark(remark, &mut text);
                table.remark(&drawn, &text, painter, out.buffer());
            }
        }
        out.checkpoint();
    }
}

/// Draws lines without columns, except for those before a name in every format.
#[cold]
#[inline(never)]
pub(crate) fn render(painter: &mut Painter<'_>, frame: &Frame<'_>, lines: &[Line], out: &mut impl Sink) {
    let (batch, order, style) = (frame.batch, in_order(lines), painter.style());
    let rows = Rows { batch, order: &order, measured: Some(&order), kind: FrameKind::Directory };
    painter.begin(rows, frame.places);
    let prefix = Prefix::aligned(style, rows);
    let mut branch = Branch::new(style.locale.is_utf8());
    for line in lines {
        let buffer = out.buffer();
        painter.begin_line(buffer);
        match line.what {
            What::Entry(place) => {
                let entry = batch.entry(place as usize);
                prefix.write(style, &entry, buffer);
                let column = prefix.width(style, &entry) + branch.write(line, buffer);
                painter.name_and_target(&entry, column, buffer);
            }
            remark => {
                prefix.write_blank(buffer);
                branch.write(line, buffer);
                branch.write_remark(remark, buffer);
            }
        }
        buffer.push(style.eol);
        out.checkpoint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn line(depth: u32, last: bool) -> Line {
        Line { what: What::Entry(0), depth, last }
    }

    fn drawn(utf8: bool, lines: &[Line]) -> String {
        let (mut branch, mut out) = (Branch::new(utf8), Vec::new());
        for line in lines {
            let start = out.len();
            let columns = branch.write(line, &mut out);
            assert_eq!(columns, crate::width::width(&out[start..], dents_locale::Charset::Utf8));
            out.extend_from_slice(b"x\n");
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn branches_lead_from_a_directory_to_its_entries() {
        let lines = [
            line(0, false),
            line(1, false),
            line(2, false),
            line(3, true),
            line(2, true),
            line(3, false),
            line(3, true),
            line(1, true),
            line(2, true),
            line(0, true),
            line(1, true),
        ];
        let expected = "\
x
├── x
│   ├── x
│   │   └── x
│   └── x
│       ├── x
│       └── x
└── x
    └── x
x
└── x
";
        assert_eq!(drawn(true, &lines), expected);
        let ascii = expected.replace("├── ", "|-- ").replace("└── ", "`-- ").replace("│   ", "|   ");
        assert_eq!(drawn(false, &lines), ascii);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let text = |utf8, count| {
            let mut out = Vec::new();
            Branch::new(utf8).write_more(count, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(true, 1203), "… 1,203 more");
        assert_eq!(text(false, 1), "... 1 more");
        assert_eq!(text(true, u32::MAX), "… 4,294,967,295 more");
    }
}
