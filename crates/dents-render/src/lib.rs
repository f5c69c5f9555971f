//! Renders batches of entries: the last stage before `write`.
//!
//! A [`Style`] describes the listing and derives the facts that each entry must have ([`Style::needs`]). A
//! [`Renderer`] turns one [`Frame`] after another, each with a batch, into bytes and passes them to a [`Sink`]. This
//! crate is pure: it makes no system call, and no function fails. An entry that could not be stat'ed is drawn with
//! question marks, as in GNU `ls`.
//!
//! ```text
//! Batch ─► Frame ─► format::{long, columns, commas, lines}, table (the view) ─► name ─► quote, color, indicator ─► Sink
//!               └─► record (for programs)
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod character;
pub mod color;
mod consumer;
mod declare;
mod dired;
mod field;
mod format;
mod frame;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod human;
mod hyperlink;
pub mod icons;
pub mod indicator;
pub mod invisible;
pub mod mode;
mod multibyte;
mod multibyte_table;
mod name;
mod note;
pub mod number;
mod owner_column;
mod parallel;
pub mod quantity;
pub mod quote;
pub mod record;
mod renderer;
mod sink;
mod style;
mod table;
pub mod time;
pub mod view;
pub mod width;
mod width_table;

pub use color::Colors;
pub use consumer::{Consumer, Declare};
pub use format::tree;
pub use frame::{Frame, FrameKind};
pub use human::SizeFormat;
pub use hyperlink::Places;
pub use icons::Icons;
pub use indicator::Indicator;
pub use note::{Change, Git, Note, Total};
pub use quote::Quoting;
pub use record::Record;
pub use renderer::Renderer;
pub use sink::Sink;
pub use style::{Format, LongStyle, NameStyle, PrefixStyle, Screen, Style};
pub use table::inode_flags;
pub use time::{TimeStyle, Zone};
pub use view::{Column, Theme, View};
