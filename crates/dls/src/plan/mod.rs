//! All decisions, from the options, the environment and the terminal. No other stage reads these.
//!
//! A plan is complete: it has the style, the order and, as the union of their declarations, the needs. No later stage
//! decides which facts an entry needs.

mod called_as;
mod choices;
mod claims;
mod colors;
mod git;
mod hierarchy;
mod icons;
mod planner;
mod programs;
mod tree;
mod view;
mod view_options;
mod warning;
mod zone;

use crate::args::words;
use crate::args::{Args, Definition, UsageError};
use crate::program::is_drop_in;
use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(test)]
pub(crate) use claims::claims;
pub use claims::{Claim, Claimant, Explain};
use core::ffi::CStr;
pub use git::GitPlan;
pub use tree::TreePlan;
pub use warning::Warning;
pub(crate) use warning::bad_theme;
pub use zone::ZoneName;

use called_as::CalledAs;
use choices::Choices;
use dents_core::needs::{Kind, Kinds, Needs, NeedsByKind};
use dents_core::read::Filter;
use dents_core::sort::{Key, Order};
use dents_core::stat::choose::IN_FLIGHT;
use dents_core::stat::{Dereference, Mode};
use dents_locale::Locale;
use dents_render::{Format, Indicator, Style};
use planner::Planner;
pub use planner::Surroundings;

/// All decisions: plain data, which no later stage changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<'a> {
    /// The program's name in messages.
    pub program: &'a [u8],
    /// Charset and order of names.
    pub locale: Locale,
    /// Which names of a directory.
    pub filter: Filter,
    /// `-d`: a directory is an entry like any other.
    pub directory: bool,
    /// `-R`.
    pub recursive: bool,
    /// Which links are followed.
    pub dereference: Dereference,
    /// The order of entries and of operands.
    pub order: Order,
    /// How many entries of a directory are shown at most.
    pub top: Option<usize>,
    /// Of which types.
    pub shown: Kinds,
    /// Operands that were perhaps meant as values; see [`Args::apart`].
    pub apart: Vec<(&'a CStr, &'static Definition)>,
    /// The style of the output.
    pub style: Style,
    /// The facts that entries of a directory need.
    pub needs: NeedsByKind,
    /// The facts that operands need.
    pub operand_needs: NeedsByKind,
    /// [`Needs::UID`] and [`Needs::GID`], where they are shown as names.
    pub names: Needs,
    /// Which zone times are shown in.
    pub zone: ZoneName<'a>,
    /// Whether the six-month rule needs the current time.
    pub shows_times: bool,
    /// Whether entries are shown as they are read.
    pub streams: bool,
    /// `--tree`.
    pub tree: Option<TreePlan>,
    /// `--total-size`: for how long totals are computed, in nanoseconds; `u64::MAX` is for ever.
    pub total_ns: Option<u64>,
    /// The strategy.
    pub mode: Mode,
    /// The number of threads, if it was named.
    pub threads: Option<usize>,
    /// Round trips in flight at most.
    pub in_flight: usize,
    /// `--timeout` in nanoseconds.
    pub timeout_ns: Option<u64>,
    /// The request to git.
    pub git: Option<GitPlan<'a>>,
    /// `--timing`.
    pub timing: bool,
    /// `--lazy`.
    pub lazy: bool,
    /// `--explain`.
    pub explain: Option<Box<Explain>>,
    /// Whether a slow listing is followed by a hint.
    pub hints: bool,
}

impl<'a> Plan<'a> {
    /// Makes a plan. Warnings about the environment are added to `warnings`, also if there is an error.
    ///
    /// # Errors
    /// Options that contradict each other; an invalid time style.
    pub fn new(
        args: &Args<'a>,
        around: &Surroundings<'a, '_>,
        warnings: &mut Vec<Warning<'a>>,
    ) -> Result<Self, UsageError<'a>> {
        let Surroundings { environment, program, locale: found, terminal, .. } = *around;
        let (called_as, locale) = (CalledAs::of(program), found.locale());
        let mut planner = Planner { around, called_as, locale, warnings };
        let choices = Choices::new(&args.said, args.defaults, terminal.is_some());
        let style = planner.style(&choices)?;
        let long = style.format == Format::Long;
        let time = style.long.time;
        let key = choices.key.unwrap_or(match choices.time {
            Some(_) if !long => Key::Time,
            _ => Key::Name,
        });
        // The order in which entries are counted does not show; with `-R` that of the directories does.
        let key = if choices.count && !choices.recursive && choices.top.is_none() { Key::None } else { key };
        let order = Order { key, reverse: choices.reverse, directories_first: choices.directories_first };
        let mut needs = style.needs() | order.needs(time);
        if choices.recursive || choices.looks_below() || choices.only.is_some() {
            needs |= NeedsByKind::all(Needs::TYPE);
        }
        let mut operand_needs = style.operand_needs() | needs | NeedsByKind::all(Needs::TYPE);
        if choices.directories_first {
            // Without an order too: GNU's status tells that the target of an operand cannot be reached.
            operand_needs |= NeedsByKind::of(Kind::Link, Needs::TARGET);
        }
        let mut names = Needs::empty();
        names.set(Needs::UID, style.wants_user_names());
        names.set(Needs::GID, style.wants_group_names());
        // With -l or -F GNU lists a link on the command line. Of a tree it is the root, in every format.
        let lists_links = (style.names.indicator == Indicator::Classify || long) && !choices.shows_tree();
        let dereference = choices.dereference.unwrap_or(if choices.directory || lists_links {
            Dereference::Never
        } else {
            Dereference::OperandDirectories
        });
        let timeout_ns = planner.timeout_ns(&choices);
        let git = planner.git(&choices, &style, timeout_ns);
        Ok(Plan {
            program,
            locale,
            filter: choices.filter(found, environment.posixly_correct.is_some()),
            directory: choices.directory,
            recursive: choices.recursive && !choices.shows_tree(),
            dereference,
            order,
            top: choices.top,
            shown: choices.shown(),
            apart: args.apart.clone(),
            needs,
            operand_needs,
            names,
            zone: ZoneName::new(environment),
            shows_times: style.long.view.as_ref().map_or(long, |view| view.shows_times()),
            // GNU streams only lines. A list with commas has the same bytes, except that messages about entries then
            // precede all names: so it streams only if no entry is asked about.
            streams: key == Key::None
                && choices.top.is_none()
                && (matches!(style.format, Format::Lines | Format::Record | Format::Count)
                    || style.format == Format::Commas
                        && !needs.asks_any()
                        && dereference != Dereference::Always)
                && !style.prefix.blocks
                && !choices.looks_below()
                && !choices.recursive
                && git.is_none(),
            tree: TreePlan::new(&choices, order, git.as_ref().is_some_and(|git| git.hides)),
            total_ns: choices.total_ns(),
            mode: choices.mode,
            threads: choices.threads,
            in_flight: choices.in_flight.unwrap_or(IN_FLIGHT),
            timeout_ns,
            git,
            timing: choices.timing,
            lazy: choices.lazy,
            hints: !choices.no_hints
                && !choices.timing
                && choices.explain.is_none()
                && timeout_ns.is_none()
                && !is_drop_in(program),
            explain: choices.explain.map(|when| {
                let mut explain = Explain::new(args, environment, &style, &order, choices.recursive);
                explain.plan_only = when == words::Explain::Plan;
                Box::new(explain)
            }),
            style,
        })
    }

    /// Whether times are shown as dates, which takes a zone. Ages do not.
    pub(crate) fn shows_dates(&self) -> bool {
        self.shows_times && self.style.long.view.as_ref().is_none_or(|view| !view.relative)
    }

    /// Whether the size of a directory, by which entries are sorted, is its total.
    pub(crate) fn sorts_by_totals(&self) -> bool {
        self.order.key == Key::Size && self.total_ns.is_some()
    }

    /// Whether the entries that git ignores are left out.
    pub(crate) fn hides_ignored(&self) -> bool {
        self.git.as_ref().is_some_and(|git| git.hides)
    }

    /// Whether the entries of a directory must be complete before some are left out: to enter subdirectories, to leave
    /// out the entries that git ignores, to sort by totals.
    pub(crate) fn needs_whole_directories(&self) -> bool {
        let only_some = self.shown != Kinds::ALL;
        self.recursive || self.hides_ignored() || self.total_ns.is_some() || only_some
    }

    /// Whether links in a directory are shown as their targets.
    #[must_use]
    pub fn follows_entries(&self) -> bool {
        self.dereference == Dereference::Always
    }
}

#[cfg(test)]
mod tests;
