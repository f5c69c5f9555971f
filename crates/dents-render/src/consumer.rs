//! Which part of a drawing reads what of an entry; each has a name, so that a plan can say what asked for a fact.

use crate::color;
use dents_core::needs::NeedsByKind;

/// A part of what is drawn that must know something of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// `-i`.
    Inode,
    /// `-s`.
    Blocks,
    /// `-Z`.
    Context,
    /// `--hyperlink`.
    Hyperlink,
    /// `--icons`.
    Icons,
    /// `-F`, `--file-type`, `-p`.
    Indicator,
    /// `--tree`.
    Tree,
    /// The long format without its mark.
    Long,
    /// The long format's `+` or `.` behind the mode.
    Mark,
    /// The columns of the view.
    View,
    /// `--mounts`.
    Mounts,
    /// `--xattr`.
    Xattrs,
    /// A key of `LS_COLORS`.
    Color(color::Key),
    /// `ln=target`: links in the colour of what they lead to.
    LinkAsTarget,
    /// `--group-directories-first`, whose look at what links lead to is shown.
    DirectoriesFirst,
    /// `--json`, `--ndjson`, `--csv`: the fields of their rows.
    Record,
    /// `--count`.
    Count,
    /// `--summary`.
    Summary,
}

/// Takes what consumers declare.
pub type Declare<'d> = dyn FnMut(Consumer, NeedsByKind) + 'd;

/// The union of what is declared.
pub(crate) fn union(declare: impl FnOnce(&mut Declare<'_>)) -> NeedsByKind {
    let mut all = NeedsByKind::default();
    declare(&mut |_, needs| all |= needs);
    all
}
