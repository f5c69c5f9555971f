//! What the commands that sum up share: what is told on the way, one place that writes at the end, and how it is drawn.
//!
//! ```text
//! walk ─► Meanwhile (stderr)        sums ─► Ending::finish ─► Table, lines or JSON (stdout)
//! ```

mod bar;
mod completion;
mod diagnostics;
mod json;
mod screen;
mod table;
mod units;

pub(crate) use bar::{bar, percent};
pub(crate) use completion::Completion;
pub(crate) use diagnostics::Diagnostics;
pub(crate) use json::{Head, Named, write_json};
pub(crate) use screen::{Paint, Screen};
pub(crate) use table::{Column, Table};
pub(crate) use units::Units;
