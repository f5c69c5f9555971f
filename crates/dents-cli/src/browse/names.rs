//! How names and paths are drawn: as `dls` draws them on a terminal, in the colours of `LS_COLORS`, with its icons.

use super::tree::Node;
use ansi_to_tui::IntoText;
use dents_commands::message;
use dents_commands::output::Screen;
use dents_render::{Colors, Icons};
use ratatui::text::{Line, Span};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The form of names.
pub(super) struct Names {
    screen: Screen,
    colors: Option<Colors>,
    icons: Option<Icons>,
}

impl Names {
    pub(super) fn new(screen: Screen, colors: Option<Colors>, icons: Option<Icons>) -> Names {
        Names { screen, colors, icons }
    }

    /// From `LS_COLORS`, `NO_COLOR` and `DLS_ICONS`. A value that cannot be read is reported, and the built-in one is used.
    pub(super) fn from_environment(with_icons: bool, complain: &mut dyn FnMut(&str)) -> Names {
        let value =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(OsStringExt::into_vec);
        let colors = value("NO_COLOR").is_none().then(|| match value("LS_COLORS") {
            Some(text) => Colors::parse(&text).unwrap_or_else(|_| {
                complain("unparsable value for LS_COLORS environment variable");
                Colors::builtin()
            }),
            None => Colors::builtin(),
        });
        let icons = with_icons.then(|| {
            let mut icons = Icons::default();
            if let Some(text) = value("DLS_ICONS")
                && let Err(bad) = icons.add(&text)
            {
                let pair = message::quoted_text(bad.pair);
                complain(&format!("DLS_ICONS: {pair}: {}", bad.why.way_out()));
            }
            icons
        });
        Names::new(Screen::stdout(), colors, icons)
    }

    /// Whether characters beyond ASCII can be shown.
    pub(super) fn utf8(&self) -> bool {
        self.screen.charset.is_utf8()
    }

    pub(super) fn has_colors(&self) -> bool {
        self.colors.is_some()
    }

    /// A name or path without colour. Control characters are escaped, so that it cannot control the terminal.
    pub(super) fn plain(&self, name: &[u8]) -> String {
        String::from_utf8_lossy(&self.screen.name(name)).into_owned()
    }

    /// The name of an entry.
    pub(super) fn of(&self, node: &Node, name: &[u8]) -> Vec<Span<'static>> {
        let mut text = Vec::new();
        if let Some(icons) = &self.icons {
            icons.put(name, node.kind, Some(node.mode), &mut text);
        }
        text.extend_from_slice(&self.screen.name(name));
        let color = self.colors.as_ref().and_then(|colors| colors.of(name, node.kind, Some(node.mode)));
        if let Some(color) = color {
            text = [b"\x1b[", color, b"m", &text[..]].concat();
        }
        let drawn = text.into_text().ok().and_then(|text| text.lines.into_iter().next());
        drawn.unwrap_or_else(|| Line::from(self.plain(name))).spans
    }
}

/// A path that a message of the system can have.
pub(super) fn as_path(path: &[u8]) -> &std::path::Path {
    OsStr::from_bytes(path).as_ref()
}
