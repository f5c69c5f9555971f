//! The colours.

use super::planner::Planner;
use super::warning::Warning;
use dents_render::{Colors, Icons, color};

impl Planner<'_, '_> {
    /// The colours of the environment: `LS_COLORS`, or the built-in ones if that is not set and the terminal is known
    /// to show them. An invalid value is reported, and there are no colours.
    ///
    /// GNU's built-in colours do not tell a dangling link from another, nor a picture from a text. `own`: the format is one that GNU does not
    /// have, so that its built-in colours need not be GNU's.
    pub(super) fn colors(&mut self, own: bool) -> Option<Colors> {
        let Some(value) = self.around.environment.ls_colors.filter(|value| !value.is_empty()) else {
            let colorterm = self.around.environment.colorterm.is_some_and(|value| !value.is_empty());
            let known = || color::is_known_terminal(self.around.environment.term.unwrap_or_default());
            let builtin = || if own { Colors::with_kinds(Icons::kinds()) } else { Colors::builtin() };
            return (colorterm || known()).then(builtin);
        };
        let bad = match Colors::parse(value) {
            Ok(colors) => return Some(colors),
            Err(bad) => bad,
        };
        self.warnings.extend(bad.prefix.map(Warning::UnknownColor));
        self.warnings.push(Warning::BadColors);
        None
    }
}
