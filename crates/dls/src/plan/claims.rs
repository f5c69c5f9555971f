//! Which option or colour needs which facts: the needs of a plan, separately, each with the user's name for it.
//!
//! Made for `--explain` and for hints only. The union of the claims is the plan's needs: both come from the same declarations.

use crate::args::{Args, Flag, Said, flags};
use crate::environment::Environment;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::sort::{Key, Order};
use dents_render::{Consumer, Style, color};

/// The facts that an option or a colour needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The option or colour.
    pub by: Claimant,
    /// The facts, by type.
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

/// The part of `--explain` that depends on the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    /// Before doing anything, and instead of it.
    pub plan_only: bool,
    /// The needs of each option and colour.
    pub claims: Vec<Claim>,
    /// Whether `LS_COLORS` is set and not empty.
    pub colors_are_set: bool,
}

impl Explain {
    /// What a listing with this style and order needs, for which options and colours.
    #[cold]
    pub(crate) fn new(
        args: &Args<'_>,
        environment: &Environment<'_>,
        style: &Style,
        order: &Order,
        recursive: bool,
    ) -> Explain {
        Explain {
            plan_only: false,
            claims: claims(&args.said, style, order, recursive),
            colors_are_set: environment.ls_colors.is_some_and(|value| !value.is_empty()),
        }
    }
}

/// The options that select a consumer; a claim has the name of the last one that was given.
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

/// The claims of all options and colours, in the order in which `--explain` prints them.
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
    claim(option(said, sort), Order { directories_first: false, ..*order }.needs(style.long.time));
    if order.directories_first {
        // The needs of the key have a claim already: the rest is due to the grouping.
        let targets = if order.key == Key::None { Key::None } else { Key::Name };
        let grouping = Order { key: targets, ..*order }.needs(style.long.time);
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

/// The last of these options that was given, as it was written. Without any, the program's name decided (`vdir`).
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
