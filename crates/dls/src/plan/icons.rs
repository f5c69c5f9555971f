//! The icons.

use super::choices::{Choices, applies};
use super::planner::Planner;
use super::warning::Warning;
use alloc::boxed::Box;
use dents_render::Icons;

impl Planner<'_, '_> {
    /// Whether icons are drawn. Output for programs has no icons: neither with `--zero`, nor with `-D`, which reports the positions of names.
    /// In a locale without UTF-8 a terminal would show other characters, so they must be requested with `always`.
    pub(super) fn draws_icons(&self, choices: &Choices<'_>, dired: bool) -> bool {
        let suits = self.around.terminal.is_some() && self.locale.is_utf8();
        !choices.zero && !dired && applies(choices.icons, suits)
    }

    /// The built-in icons with the changes of `DLS_ICONS`. Invalid parts of it are reported, the others are used.
    #[cold]
    #[inline(never)]
    pub(super) fn icons(&mut self) -> Box<Icons> {
        let mut icons = Box::<Icons>::default();
        if let Some(value) = self.around.environment.dls_icons
            && let Err(bad) = icons.add(value)
        {
            self.warnings.push(Warning::BadIcon { pair: bad.pair, way_out: bad.why.way_out() });
        }
        icons
    }
}
