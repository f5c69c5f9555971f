//! Whether there are colours, and which.

use super::Surroundings;
use crate::output::Message;
use dents_render::{Colors, color};

impl Surroundings<'_, '_, '_> {
    /// The colours of the environment: `LS_COLORS`, or the built-in ones if that is not set and the terminal
    /// is known to show them. A value that cannot be understood is told, and there are none.
    pub(super) fn colors(&mut self) -> Option<Colors> {
        let Some(value) = self.environment.ls_colors.filter(|value| !value.is_empty()) else {
            let colorterm = self.environment.colorterm.is_some_and(|value| !value.is_empty());
            let known = || color::is_known_terminal(self.environment.term.unwrap_or_default());
            return (colorterm || known()).then(Colors::builtin);
        };
        let bad = match Colors::parse(value) {
            Ok(colors) => return Some(colors),
            Err(bad) => bad,
        };
        if let Some(prefix) = bad.prefix {
            let prefix = self.out.language().quote(&prefix);
            Message::new(self.program).format("unrecognized prefix: %s", &[&prefix]).send(self.out);
        }
        let text = "unparsable value for LS_COLORS environment variable";
        Message::new(self.program).format(text, &[]).send(self.out);
        None
    }
}
