//! The output of `count`, `du`, `stats`, `top`, `diff` and `parts`: messages and progress during the walk,
//! tables and JSON, and the one place that writes them.
//!
//! ```text
//! walk ─► Diagnostics (stderr)        sums ─► Completion::finish ─► Table, lines or JSON (stdout)
//! ```

mod bar;
mod completion;
mod csv;
mod diagnostics;
mod json;
mod screen;
mod table;
mod units;

pub use bar::{bar, percent};
pub use completion::{Completion, Destination, Stdout};
pub(crate) use csv::Csv;
pub use diagnostics::Diagnostics;
pub(crate) use json::{Head, Named, write_json};
pub use screen::{Paint, Screen};
pub(crate) use table::{Column, Table};
pub(crate) use units::Units;
