//! Which option or colour needs what: the needs of a plan, one by one, each under the name by which the user knows it.
//!
//! Made for `--explain` only. The union of the claims is the plan's needs: both come from the same declarations.

use crate::args::{Flag, Said, flags};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::sort::{Key, Order};
use dents_render::{Consumer, Style, color};

/// What an option or a colour must know of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The option or colour.
    pub by: Claimant,
    /// What, by type.
    pub needs: NeedsByKind,
}

/// An option or a colour that has to know something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimant {
    /// An option, as it was typed, or nearly so: `-l`, `--sort=size`.
    Option(String),
    /// A key of `LS_COLORS`.
    Color(color::Key),
    /// `ln=target` in `LS_COLORS`.
    LinkAsTarget,
}

/// What `--explain` must know of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    /// Before doing anything, and instead of it.
    pub plan_only: bool,
    /// What each option and colour needs.
    pub claims: Vec<Claim>,
    /// Whether `LS_COLORS` is set, and not to nothing.
    pub colors_are_set: bool,
}

/// The options that mean a consumer; the last one said lends it its name.
fn flags_of(consumer: Consumer) -> &'static [Flag] {
    match consumer {
        Consumer::Inode => &[Flag::Inode],
        Consumer::Blocks => &[Flag::Size],
        Consumer::Context => &[Flag::Context],
        Consumer::Hyperlink => &[Flag::Hyperlink],
        Consumer::Icons => &[Flag::Icons],
        Consumer::Indicator => &[Flag::Classify, Flag::Slash, Flag::FileType, Flag::IndicatorStyle],
        Consumer::Long | Consumer::Mark | Consumer::View => &[
            Flag::Long,
            Flag::ColumnList,
            Flag::FullTime,
            Flag::LongWithoutOwner,
            Flag::LongWithoutGroup,
            Flag::NumericUidGid,
            Flag::Dired,
            Flag::Format,
        ],
        Consumer::Record => &[Flag::Json, Flag::Ndjson, Flag::Csv],
        Consumer::Count => &[Flag::Count],
        Consumer::Summary => &[Flag::Summary],
        Consumer::Tree => &[Flag::Tree],
        Consumer::Mounts => &[Flag::Mounts],
        Consumer::Xattrs => &[Flag::Xattr],
        Consumer::DirectoriesFirst => &[Flag::GroupDirectoriesFirst],
        Consumer::Color(_) | Consumer::LinkAsTarget => &[Flag::Color],
    }
}

/// The claims of all options and colours that have one, in the order in which they are told.
#[cold]
#[inline(never)]
pub(crate) fn claims(said: &[Said<'_>], style: &Style, order: &Order, recursive: bool) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut claim = |by: Claimant, needs: NeedsByKind| {
        if needs != NeedsByKind::default() {
            claims.push(Claim { by, needs });
        }
    };
    style.declare(&mut |consumer, needs| {
        let by = match consumer {
            Consumer::Color(key) => Claimant::Color(key),
            Consumer::LinkAsTarget => Claimant::LinkAsTarget,
            other => option(said, flags_of(other)),
        };
        claim(by, needs);
    });
    let sort: &[Flag] = match order.key {
        Key::Size => &[Flag::SortBySize, Flag::Sort],
        _ if said.iter().any(|said| matches!(said.flag, Flag::SortByTime | Flag::Sort)) => {
            &[Flag::SortByTime, Flag::Sort]
        }
        _ => &[Flag::Ctime, Flag::Atime, Flag::Time],
    };
    claim(option(said, sort), Order { directories_first: false, ..*order }.needs(style.time));
    if order.directories_first {
        // The key's own needs have been claimed: what is left is the grouping's.
        let targets = if order.key == Key::None { Key::None } else { Key::Name };
        let grouping = Order { key: targets, ..*order }.needs(style.time);
        claim(option(said, &[Flag::GroupDirectoriesFirst]), grouping);
    }
    if said.iter().any(|said| said.flag == Flag::TotalSize) {
        claim(option(said, &[Flag::TotalSize]), NeedsByKind::all(Needs::TYPE));
    }
    let only = [Flag::OnlyDirs, Flag::OnlyFiles];
    if said.iter().any(|said| only.contains(&said.flag)) {
        claim(option(said, &only), NeedsByKind::all(Needs::TYPE));
    }
    if recursive {
        claim(option(said, &[Flag::Recursive]), NeedsByKind::all(Needs::TYPE));
    }
    claims
}

/// The last of these options that was said, nearly as it was. Without any it is the program's name that decided
/// (`vdir`).
fn option(said: &[Said<'_>], flags: &[Flag]) -> Claimant {
    let last = said.iter().rev().find(|said| flags.contains(&said.flag));
    let named = last.and_then(|last| {
        let definition = flags::all().find(|definition| definition.flag == last.flag)?;
        Some(match (definition.letter, definition.long, last.value) {
            (_, Some(long), Some(value)) => format!("--{long}={}", String::from_utf8_lossy(value)),
            (Some(letter), ..) => format!("-{}", char::from(letter)),
            (None, long, _) => format!("--{}", long.unwrap_or_default()),
        })
    });
    Claimant::Option(named.unwrap_or_else(|| "vdir".to_string()))
}
