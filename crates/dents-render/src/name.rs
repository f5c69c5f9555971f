//! A name on the screen: quoted, coloured, with its indicator, and as wide as it turns out.
//!
//! Everything that GNU does around a coloured name is here. The first colour of a run is preceded by a reset;
//! behind each name comes a reset again, and if the name may have reached the next line of the screen, a
//! sequence that clears the rest of it. With `no` set, all other text has a colour too, which each line
//! begins with and each name interrupts.

use crate::color::{Colors, Facts, Key};
use crate::format::Rows;
use crate::indicator::Indicator;
use crate::quote::Quoter;
use crate::style::Style;
use crate::width::{is_plain, width};
use alloc::vec::Vec;
use dents::batch::{Entry, Target};
use dents::needs::{Kind, Needs};

/// What draws names.
pub(crate) struct Painter<'s> {
    quoter: Quoter,
    indicator: Indicator,
    utf8: bool,
    /// Columns of the screen, 0 without limit.
    screen: usize,
    aligns: bool,
    checks_targets: bool,
    palette: Option<Palette<'s>>,
    /// Of the batch at hand: whether a name is quoted, so that the others are set one column to the right.
    pads: bool,
    /// Of the batch at hand: what may be read of its entries for colour's sake.
    reads: Reads,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Reads {
    regular_mode: bool,
    dir_mode: bool,
    regular_nlink: bool,
    link_nlink: bool,
    capability: bool,
}

impl<'s> Painter<'s> {
    pub(crate) fn new(style: &'s Style) -> Painter<'s> {
        Painter {
            quoter: style.name_quoter(),
            indicator: style.indicator,
            utf8: style.locale.utf8,
            screen: style.width,
            aligns: style.aligns_quotes(),
            checks_targets: style.checks_targets(),
            palette: style.colors.as_ref().map(Palette::new),
            pads: false,
            reads: Reads::default(),
            scratch: Vec::new(),
        }
    }

    /// Prepares for the entries of a batch.
    pub(crate) fn begin(&mut self, rows: Rows<'_>) {
        let batch = rows.batch;
        self.pads = self.aligns && rows.measured().any(|entry| self.quoter.quotes(entry.name()));
        if self.palette.is_some() {
            let has = |kind, needs| batch.declared().get(kind).contains(needs);
            self.reads = Reads {
                regular_mode: has(Kind::Reg, Needs::MODE),
                dir_mode: has(Kind::Dir, Needs::MODE),
                regular_nlink: has(Kind::Reg, Needs::NLINK),
                link_nlink: has(Kind::Link, Needs::NLINK),
                capability: has(Kind::Reg, Needs::CAPABILITY),
            };
        }
    }

    /// Whether a name is nothing but its bytes.
    pub(crate) fn is_bare(&self) -> bool {
        self.palette.is_none() && self.indicator == Indicator::None && !self.pads
    }

    /// Appends a name, given that [`Painter::is_bare`].
    #[inline]
    pub(crate) fn bare(&self, name: &[u8], out: &mut Vec<u8>) {
        self.quoter.write(name, out);
    }

    /// Appends what each line begins with.
    #[inline]
    pub(crate) fn begin_line(&mut self, out: &mut Vec<u8>) {
        if let Some(palette) = &mut self.palette {
            palette.begin_line(out);
        }
    }

    /// Appends an entry's name, without indicator. `column` is where it begins, which GNU counts in bytes.
    /// Returns the bytes of the name as written, colours not counted.
    #[inline]
    pub(crate) fn name(&mut self, entry: &Entry<'_>, column: usize, out: &mut Vec<u8>) -> usize {
        let pad = self.pads && !self.quoter.quotes(entry.name());
        if pad {
            out.push(b' ');
        }
        let Some(palette) = &self.palette else {
            let start = out.len();
            self.quoter.write(entry.name(), out);
            return out.len() - start + usize::from(pad);
        };
        let facts = self.facts(entry);
        let color = palette.colors.entry(entry.name(), entry.kind(), entry.is_known(), &facts);
        self.colored(entry.name(), color, usize::from(pad), column, out)
    }

    /// Appends what a symbolic link leads to, and its indicator.
    pub(crate) fn target(&mut self, entry: &Entry<'_>, text: &[u8], column: usize, out: &mut Vec<u8>) {
        let facts = match &self.palette {
            Some(palette) => {
                let facts = self.facts(entry);
                let color = palette.colors.target(text, &facts);
                // GNU counts the space that it would set before a name here, though it sets none.
                let pad = self.pads && !self.quoter.quotes(text);
                self.colored(text, color, usize::from(pad), column, out);
                facts
            }
            None => {
                self.quoter.write(text, out);
                Facts { target: self.target_mode(entry), ..Facts::default() }
            }
        };
        if let Some(mode) = facts.target {
            out.extend(self.indicator.of(Kind::from_mode(mode), mode));
        }
    }

    fn colored(
        &mut self,
        name: &[u8],
        color: Option<&[u8]>,
        pad: usize,
        column: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        let Some(palette) = &mut self.palette else { return 0 };
        if let Some(color) = color {
            palette.begin(color, out);
        }
        let start = out.len();
        self.quoter.write(name, out);
        let len = out.len() - start + pad;
        if color.is_some() || palette.normal.is_some() {
            palette.end(out);
            let last = (column + len).saturating_sub(1);
            if self.screen != 0 && column / self.screen != last / self.screen {
                out.extend_from_slice(palette.clear);
            }
        }
        len
    }

    /// The indicator of an entry.
    #[inline]
    pub(crate) fn indicator(&self, entry: &Entry<'_>) -> Option<u8> {
        if self.indicator == Indicator::None {
            return None;
        }
        let kind = entry.kind();
        let mode = if kind == Kind::Reg && self.indicator == Indicator::Classify { entry.mode() } else { 0 };
        self.indicator.of(kind, mode)
    }

    /// The columns that a name takes, with the space before it, without the indicator.
    #[inline]
    pub(crate) fn width(&mut self, name: &[u8]) -> usize {
        self.scratch.clear();
        let quoted = self.quoter.write(name, &mut self.scratch);
        let width =
            if is_plain(&self.scratch) { self.scratch.len() } else { width(&self.scratch, self.utf8) };
        width + usize::from(self.pads && !quoted)
    }

    /// Appends what the run ends with.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if let Some(palette) = &mut self.palette {
            palette.finish(out);
        }
    }

    fn target_mode(&self, entry: &Entry<'_>) -> Option<u16> {
        match entry.kind() {
            Kind::Link if self.checks_targets => match entry.target() {
                Target::Mode(mode) => Some(mode),
                _ => None,
            },
            _ => None,
        }
    }

    fn facts(&self, entry: &Entry<'_>) -> Facts {
        let reads = &self.reads;
        let mut facts = Facts::default();
        match entry.kind() {
            Kind::Reg => {
                facts.mode = reads.regular_mode.then(|| entry.mode());
                facts.hard_linked = reads.regular_nlink && entry.nlink() > 1;
                facts.capability = reads.capability && entry.has_capability();
            }
            Kind::Dir => facts.mode = reads.dir_mode.then(|| entry.mode()),
            Kind::Link => {
                facts.hard_linked = reads.link_nlink && entry.nlink() > 1;
                facts.target = self.target_mode(entry);
            }
            _ => {}
        }
        facts
    }
}

/// The sequences around coloured names.
struct Palette<'s> {
    colors: &'s Colors,
    /// Before a colour.
    prefix: Vec<u8>,
    /// After a colour.
    right: &'s [u8],
    /// After a name.
    reset: Vec<u8>,
    /// Before everything else, if that has a colour.
    normal: Option<Vec<u8>>,
    clear: &'s [u8],
    /// Whether anything has been written in colour.
    used: bool,
}

impl<'s> Palette<'s> {
    fn new(colors: &'s Colors) -> Palette<'s> {
        let text = |key| colors.get(key).unwrap_or_default();
        let (left, right) = (text(Key::Left), text(Key::Right));
        let normal = colors.is_colored(Key::Normal).then(|| [left, text(Key::Normal), right].concat());
        Palette {
            colors,
            prefix: if normal.is_some() { [left, right, left].concat() } else { left.to_vec() },
            right,
            reset: match colors.get(Key::End) {
                Some(end) => end.to_vec(),
                None => [left, text(Key::Reset), right].concat(),
            },
            normal,
            clear: text(Key::ClearToEol),
            used: false,
        }
    }

    /// Whatever the terminal was told before, the first colour starts from none.
    #[inline]
    fn touch(&mut self, out: &mut Vec<u8>) {
        if !self.used {
            self.used = true;
            out.extend_from_slice(&self.reset);
        }
    }

    #[inline]
    fn begin_line(&mut self, out: &mut Vec<u8>) {
        if self.normal.is_some() {
            self.touch(out);
            out.extend_from_slice(self.normal.as_deref().unwrap_or_default());
        }
    }

    #[inline]
    fn begin(&mut self, color: &[u8], out: &mut Vec<u8>) {
        self.touch(out);
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(color);
        out.extend_from_slice(self.right);
    }

    #[inline]
    fn end(&mut self, out: &mut Vec<u8>) {
        self.touch(out);
        out.extend_from_slice(&self.reset);
    }

    /// Puts the terminal back to rights, unless the plain ANSI sequences did so behind every name.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let left = self.colors.get(Key::Left).unwrap_or_default();
        if self.used && (left, self.right) != (b"\x1b[", b"m") {
            out.extend_from_slice(left);
            out.extend_from_slice(self.right);
        }
    }
}
