//! The parts of a drawing that need facts about entries. Each has a name, so that a plan can show which one needs a
//! fact.

use crate::color;
use dents_core::needs::NeedsByKind;

/// A part of a drawing that needs facts about entries.
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
    /// The `+` or `.` after the mode.
    Mark,
    /// The columns of the view.
    View,
    /// `--mounts`.
    Mounts,
    /// `--xattr`.
    Xattrs,
    /// A key of `LS_COLORS`.
    Color(color::Key),
    /// `ln=target`: links in the colour of their targets.
    LinkAsTarget,
    /// `--group-directories-first`. It needs the targets of links, so these are shown in colour too.
    DirectoriesFirst,
    /// `--json`, `--ndjson`, `--csv`: the fields of their rows.
    Record,
    /// `--count`.
    Count,
    /// `--summary`.
    Summary,
}

/// Receives the declarations of consumers.
pub type Declare<'d> = dyn FnMut(Consumer, NeedsByKind) + 'd;

/// The union of the declared needs.
pub(crate) fn union(declare: impl FnOnce(&mut Declare<'_>)) -> NeedsByKind {
    let mut all = NeedsByKind::default();
    declare(&mut |_, needs| all |= needs);
    all
}
