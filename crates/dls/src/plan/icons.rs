//! Whether there are icons, and which.

use super::choices::{Choices, applies};
use super::planner::Planner;
use super::warning::Warning;
use alloc::boxed::Box;
use dents_render::Icons;

impl Planner<'_, '_> {
    /// The built-in icons and what `DLS_ICONS` says. A part of it that makes no sense is told, and the rest counts.
    ///
    /// What programs read has none: not with `--zero`, nor where `-D` tells where names begin. Without UTF-8 a terminal
    /// would show other characters, so there they must be asked for with `always`.
    #[cold]
    #[inline(never)]
    pub(super) fn icons(&mut self, choices: &Choices<'_>, dired: bool) -> Option<Box<Icons>> {
        let suits = self.around.terminal.is_some() && self.locale.utf8;
        if choices.zero || dired || !applies(choices.icons, suits) {
            return None;
        }
        let mut icons = Box::<Icons>::default();
        if let Some(value) = self.around.environment.dls_icons
            && let Err(bad) = icons.add(value)
        {
            self.warnings.push(Warning::BadIcon { pair: bad.pair, way_out: bad.why.way_out() });
        }
        Some(icons)
    }
}
