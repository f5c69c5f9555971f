//! Draws a name: quoted, coloured, with its indicator, and computes its width.
//!
//! All sequences that GNU writes around a coloured name are here. A reset precedes the first colour of a run. After
//! each name there is a reset again, and if the name may have reached the next line of the screen, a sequence that
//! clears the rest of that line. If `no` is set, all other text has a colour too: each line begins with it, and each
//! name interrupts it.

use crate::color::{Colors, Facts, Key};
use crate::frame::{FrameKind, Rows};
use crate::hyperlink::{Links, Places};
use crate::icons::{Icons, Known};
use crate::indicator::Indicator;
use crate::quote::Quoter;
use crate::style::Style;
use crate::width::{known_width, width};
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Entry, Target};
use dents_core::needs::{Kind, Needs};
use dents_locale::Charset;

/// Draws names.
#[derive(Clone)]
pub(crate) struct Painter<'s> {
    style: &'s Style,
    quoter: Quoter,
    indicator: Indicator,
    charset: Charset,
    /// Columns of the screen, 0 without limit.
    screen: usize,
    aligns: bool,
    checks_targets: bool,
    palette: Option<Palette<'s>>,
    /// With `--icons`.
    icons: Option<&'s Icons>,
    /// The width of an icon and its space in columns.
    icon_columns: usize,
    /// With `--hyperlink`.
    links: Option<Links>,
    /// Whether a name of the current batch is quoted, so that the others are moved one column to the right.
    pads: bool,
    /// The facts of the current batch that colours and icons may read.
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
            style,
            quoter: style.name_quoter(),
            indicator: style.names.indicator,
            charset: style.locale.charset,
            screen: style.screen.width,
            aligns: style.aligns_quotes(),
            checks_targets: style.checks_targets(),
            palette: style.names.colors.as_ref().map(Palette::new),
            icons: style.names.icons.as_deref(),
            icon_columns: style.names.icons.as_deref().map_or(0, Icons::columns),
            links: style.names.hyperlink.as_deref().map(Links::new),
            pads: false,
            reads: Reads::default(),
            scratch: Vec::new(),
        }
    }

    pub(crate) fn style(&self) -> &'s Style {
        self.style
    }

    /// Prepares for the entries of a frame, which are at these places.
    pub(crate) fn begin(&mut self, rows: Rows<'_>, places: Option<&Arc<Places>>) {
        if let Some(links) = &mut self.links {
            links.set_places(places);
        }
        let batch = rows.batch;
        // An operand that could not be stat'ed counts too.
        let quoted = |entry: Entry<'_>| self.quoter.quotes(entry.name());
        self.pads = self.aligns
            && if rows.kind == FrameKind::Operands {
                batch.iter().any(quoted)
            } else {
                rows.measured().any(quoted)
            };
        if self.palette.is_some() || self.icons.is_some() {
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

    /// Begins the link of a header to a directory, if its path is known. Returns whether a link was begun.
    pub(crate) fn begin_directory(&self, place: Option<&[u8]>, out: &mut Vec<u8>) -> bool {
        let place = place.filter(|place| !place.is_empty());
        let (Some(links), Some(place)) = (&self.links, place) else { return false };
        links.begin(place, out);
        true
    }

    /// Ends a link.
    pub(crate) fn end_link(&self, out: &mut Vec<u8>) {
        self.links.iter().for_each(|links| links.end(out));
    }

    /// A copy that draws neither colours nor links, to measure names.
    pub(crate) fn without_color(&self) -> Painter<'s> {
        Painter { palette: None, links: None, ..self.clone() }
    }

    /// A copy that draws a piece of the batch into a buffer of its own.
    pub(crate) fn fork(&self) -> Painter<'s> {
        let mut fork = self.clone();
        if let Some(palette) = &mut fork.palette {
            palette.touched = None;
        }
        fork
    }

    /// Joins the bytes that a fork has drawn. A reset precedes only the first colour of the whole output, but each
    /// fork writes one before its own first colour. So this returns the parts of the buffer before and after that
    /// reset, if it is superfluous.
    pub(crate) fn join<'o>(&mut self, fork: &Painter<'s>, drawn: &'o [u8]) -> [&'o [u8]; 2] {
        let first = fork.palette.as_ref().and_then(|palette| palette.touched);
        match (&mut self.palette, first) {
            (Some(palette), Some(at)) if palette.touched.is_some() => {
                [&drawn[..at], &drawn[at + palette.reset.len()..]]
            }
            (Some(palette), Some(at)) => {
                palette.touched = Some(at);
                [drawn, &[]]
            }
            _ => [drawn, &[]],
        }
    }

    /// Whether a name is drawn as its bytes, with nothing around it.
    pub(crate) fn is_bare(&self) -> bool {
        let decorated = self.palette.is_some() || self.links.is_some() || self.icons.is_some();
        !decorated && self.indicator == Indicator::None && !self.pads
    }

    /// Appends a name, given that [`Painter::is_bare`].
    #[inline]
    pub(crate) fn bare(&self, name: &[u8], out: &mut Vec<u8>) {
        self.quoter.write(name, out);
    }

    /// Appends the beginning of a line.
    #[inline]
    pub(crate) fn begin_line(&mut self, out: &mut Vec<u8>) {
        if let Some(palette) = &mut self.palette {
            palette.begin_line(out);
        }
    }

    /// Appends an entry's name, without indicator. `column` is the position where it begins, which GNU counts in
    /// bytes. Returns the number of bytes of the written name, without colours.
    #[inline]
    pub(crate) fn name(&mut self, entry: &Entry<'_>, column: usize, out: &mut Vec<u8>) -> usize {
        if let Some(icons) = self.icons {
            return self.with_icon(icons, entry, column, out);
        }
        let pad = self.pads && !self.quoter.quotes(entry.name());
        if pad {
            out.push(b' ');
        }
        let Some(palette) = &self.palette else {
            return self.quoted(entry, entry.name(), pad, out) + usize::from(pad);
        };
        let facts = self.facts(entry);
        let color = palette.colors.entry(entry.name(), entry.kind(), entry.is_known(), &facts);
        self.colored(entry, entry.name(), color, pad, column, out)
    }

    /// The same with an icon. The icon and the space that aligns quoted names are inside the colour and outside the
    /// link.
    #[inline(never)]
    #[cold]
    fn with_icon(&mut self, icons: &Icons, entry: &Entry<'_>, column: usize, out: &mut Vec<u8>) -> usize {
        let facts = self.facts(entry);
        let looks = self.checks_targets && entry.kind() == Kind::Link;
        let target = if looks { entry.target() } else { Target::Unasked };
        let color = self
            .palette
            .as_ref()
            .and_then(|palette| palette.colors.entry(entry.name(), entry.kind(), entry.is_known(), &facts));
        self.begin_color(color, out);
        let start = out.len();
        icons.write(entry.name(), entry.kind(), Known { mode: facts.mode, target }, out);
        let pad = self.padding(entry.name()) == 1;
        if pad {
            out.push(b' ');
        }
        let before = out.len() - start;
        let len = before + self.quoted(entry, entry.name(), pad, out);
        self.end_color(color, column, len, out);
        len
    }

    /// The padding before a name in columns: 1 if it is moved to the right because another name is quoted.
    pub(crate) fn padding(&self, name: &[u8]) -> usize {
        usize::from(self.pads && !self.quoter.quotes(name))
    }

    /// Appends an entry's name or the text of its link, as a hyperlink if names are hyperlinks. Returns the number of
    /// bytes.
    #[inline]
    fn quoted(&self, entry: &Entry<'_>, name: &[u8], padded: bool, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        if let Some(links) = &self.links {
            return self.linked(links, entry, name, padded, out);
        }
        self.quoter.write(name, out);
        out.len() - start
    }

    /// If names are aligned, the outer quotes are outside the link.
    #[cold]
    fn linked(
        &self,
        links: &Links,
        entry: &Entry<'_>,
        name: &[u8],
        padded: bool,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut text = Vec::with_capacity(name.len() + 8);
        self.quoter.write(name, &mut text);
        let mut link = Vec::new();
        if !links.begin_entry(entry, &mut link) {
            out.extend_from_slice(&text);
            return text.len();
        }
        match &text[..] {
            [first, inner @ .., last] if self.pads && !padded => {
                out.push(*first);
                out.append(&mut link);
                out.extend_from_slice(inner);
                links.end(out);
                out.push(*last);
            }
            _ => {
                out.append(&mut link);
                out.extend_from_slice(&text);
                links.end(out);
            }
        }
        text.len()
    }

    /// Appends the target of a symbolic link, and its indicator. Returns the number of bytes, without colours.
    pub(crate) fn target(
        &mut self,
        entry: &Entry<'_>,
        text: &[u8],
        column: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut len;
        let facts = match &self.palette {
            Some(palette) => {
                let facts = self.facts(entry);
                let color = palette.colors.target(text, &facts);
                // GNU counts the space that it writes before a name, but does not write it here.
                let pad = self.padding(text) == 1;
                len = self.colored(entry, text, color, pad, column, out) - usize::from(pad);
                facts
            }
            None => {
                len = self.quoted(entry, text, self.padding(text) == 1, out);
                Facts { target: self.target_mode(entry), ..Facts::default() }
            }
        };
        if let Some(mode) = facts.target {
            let indicator = self.indicator.of(Kind::from_mode(mode), mode);
            len += usize::from(indicator.is_some());
            out.extend(indicator);
        }
        len
    }

    /// Appends a name, its indicator, and the target of a symbolic link. Returns the number of bytes of the name and
    /// of all, without colours.
    #[inline]
    pub(crate) fn name_and_target(
        &mut self,
        entry: &Entry<'_>,
        column: usize,
        out: &mut Vec<u8>,
    ) -> (usize, usize) {
        let len = self.name(entry, column, out);
        if entry.kind() != Kind::Link {
            let indicator = self.indicator(entry);
            out.extend(indicator);
            return (len, len + usize::from(indicator.is_some()));
        }
        let Some(text) = entry.link() else { return (len, len) };
        out.extend_from_slice(b" -> ");
        (len, len + 4 + self.target(entry, text, column + len + 4, out))
    }

    fn colored(
        &mut self,
        entry: &Entry<'_>,
        name: &[u8],
        color: Option<&[u8]>,
        pad: bool,
        column: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        self.begin_color(color, out);
        let len = self.quoted(entry, name, pad, out) + usize::from(pad);
        self.end_color(color, column, len, out);
        len
    }

    #[inline]
    fn begin_color(&mut self, color: Option<&[u8]>, out: &mut Vec<u8>) {
        if let (Some(palette), Some(color)) = (&mut self.palette, color) {
            palette.begin(color, out);
        }
    }

    /// Ends a name of `len` bytes that began at `column`.
    #[inline]
    fn end_color(&mut self, color: Option<&[u8]>, column: usize, len: usize, out: &mut Vec<u8>) {
        let Some(palette) = &mut self.palette else { return };
        if color.is_some() || palette.normal.is_some() {
            palette.end(out);
            // A name of unknown width may have left `column` below 0; GNU counts in `size_t` too.
            let last = column.wrapping_add(len).wrapping_sub(1);
            if self.screen != 0 && column / self.screen != last / self.screen {
                out.extend_from_slice(palette.clear);
            }
        }
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

    /// The width of a name in columns, with the icon and the space before it, without the indicator. A name whose
    /// width is not known counts as -1 columns, as in GNU 9.7; the width of the parts around the name is added to
    /// that.
    #[inline]
    pub(crate) fn width(&mut self, name: &[u8]) -> isize {
        self.scratch.clear();
        let quoted = self.quoter.write(name, &mut self.scratch);
        let known = known_width(&self.scratch, self.charset);
        // Only where characters are bytes, those of such a name count. No text is longer than `isize::MAX` bytes.
        let width = match known {
            None if self.charset.is_multibyte() => -1,
            None => width(&self.scratch, self.charset) as isize,
            Some(width) => width as isize,
        };
        width + isize::from(self.pads && !quoted) + self.icon_columns as isize
    }

    /// Appends the end of the run.
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
#[derive(Clone)]
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
    /// Where the first colour was written, if any was.
    touched: Option<usize>,
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
            touched: None,
        }
    }

    /// Writes a reset before the first colour, because the terminal may have another colour.
    #[inline]
    fn touch(&mut self, out: &mut Vec<u8>) {
        if self.touched.is_none() {
            self.touched = Some(out.len());
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

    /// Resets the terminal, unless the plain ANSI sequences did so after every name.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let left = self.colors.get(Key::Left).unwrap_or_default();
        if self.touched.is_some() && (left, self.right) != (b"\x1b[", b"m") {
            out.extend_from_slice(left);
            out.extend_from_slice(self.right);
        }
    }
}
