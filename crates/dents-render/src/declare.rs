//! The facts that each entry must have: the union of the needs that the parts of a drawing declare.

use crate::consumer::{Consumer, Declare, union};
use crate::format::long;
use crate::icons::Icons;
use crate::indicator::Indicator;
use crate::record;
use crate::style::{Format, Style};
use crate::view::Column;
use dents_core::needs::{Kind, Needs, NeedsByKind};

impl Style {
    /// The facts that each entry must have to be drawn in this style.
    #[must_use]
    pub fn needs(&self) -> NeedsByKind {
        union(|to| self.declare(to))
    }

    /// The same, for each part with its name.
    pub fn declare(&self, to: &mut Declare<'_>) {
        match &self.long.view {
            Some(view) if self.format == Format::Long => view.declare(self.long.time, to),
            None if self.format == Format::Long => long::declare(self, to),
            _ => {}
        }
        let has_mark = self.long.view.as_ref().is_none_or(|view| view.columns.contains(&Column::Mode));
        if self.format == Format::Long && has_mark {
            to(Consumer::Mark, NeedsByKind::all(self.long.mark));
        }
        self.declare_prefix_and_name(to);
        if self.tree {
            to(Consumer::Tree, NeedsByKind::all(Needs::TYPE) | NeedsByKind::of(Kind::Link, Needs::LINK));
        }
        self.declare_targets(to);
        if self.summary || matches!(self.format, Format::Record | Format::Count) {
            record::declare(self, to);
        }
    }

    /// Declares the targets of links, for the parts that need them. If one part needs a target, all parts show it.
    fn declare_targets(&self, to: &mut Declare<'_>) {
        let long = self.shows_links();
        let needs = NeedsByKind::of(Kind::Link, Needs::TARGET);
        for key in self.names.colors.iter().flat_map(|colors| colors.target_keys(long)) {
            to(key.map_or(Consumer::LinkAsTarget, Consumer::Color), needs);
        }
        if long && self.names.indicator >= Indicator::FileType {
            to(Consumer::Indicator, needs);
        }
        if self.names.targets && (long || self.names.colors.is_some()) {
            to(Consumer::DirectoriesFirst, needs);
        }
    }

    /// The facts that an operand must have: GNU stats operands in any style, and colours them by that.
    #[must_use]
    pub fn operand_needs(&self) -> NeedsByKind {
        let colors = self.names.colors.as_ref().map(|colors| colors.needs(self.checks_targets(), true));
        self.needs() | colors.unwrap_or_default()
    }

    /// Declares the facts for the parts before and after a name in every format: inode, blocks, indicator, colour.
    fn declare_prefix_and_name(&self, to: &mut Declare<'_>) {
        // GNU stats entries whose context or link it shows, and reports those that it cannot stat.
        for (shown, consumer, needs) in [
            (self.prefix.inode, Consumer::Inode, Needs::INODE),
            (self.prefix.blocks, Consumer::Blocks, Needs::BLOCKS),
            (self.prefix.context, Consumer::Context, Needs::CONTEXT | Needs::MODE),
            (self.names.hyperlink.is_some(), Consumer::Hyperlink, Needs::MODE),
        ] {
            if shown {
                to(consumer, NeedsByKind::all(needs));
            }
        }
        to(Consumer::Indicator, self.names.indicator.needs());
        if self.names.icons.is_some() {
            Icons::declare(to);
        }
        if let Some(colors) = &self.names.colors {
            let stats_regular = self.stats_anyway() || self.names.indicator == Indicator::Classify;
            let mut to = |key, needs| to(Consumer::Color(key), needs);
            colors.declare(self.checks_targets(), stats_regular, &mut to);
        }
    }
}
