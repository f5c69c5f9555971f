//! Shared by `count`, `du`, `stats` and `top`: messages and progress during the walk, tables and JSON, and the one place that writes them.
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
mod sheet;
mod table;
mod units;

pub(crate) use bar::{bar, percent};
pub(crate) use completion::{Completion, Paper};
pub(crate) use csv::Csv;
pub(crate) use diagnostics::Diagnostics;
pub(crate) use json::{Head, Named, write_json};
pub(crate) use screen::{Paint, Screen};
pub(crate) use sheet::Sheet;
pub use sheet::{Cell, Records, Type, Values};
pub(crate) use table::{Column, Table};
pub(crate) use units::Units;
