//! From a batch of entries to the bytes of a listing.
//!
//! The last station before `write`. A [`Style`] says what the listing looks like and derives what must be
//! known of each entry ([`Style::needs`]); a [`Renderer`] turns one [`dents_core::batch::Batch`] after another into
//! bytes and hands them to a [`Sink`]. Pure: nothing here makes a system call, and nothing here can fail. An
//! entry that could not be stat'ed is drawn with question marks, as GNU does.
//!
//! ```text
//! Batch ─► format::{long, columns, commas, lines} ─► name ─► quote, color, indicator ─► Sink
//!      └─► record (for programs)
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod color;
mod consumer;
mod dired;
mod format;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod human;
mod hyperlink;
pub mod icons;
pub mod indicator;
pub mod mode;
mod name;
mod note;
pub mod number;
pub mod quantity;
pub mod quote;
pub mod record;
mod renderer;
mod style;
pub mod time;
pub mod view;
pub mod width;
mod width_table;

pub use color::Colors;
pub use consumer::{Consumer, Declare};
pub use format::tree;
pub use human::SizeFormat;
pub use hyperlink::Places;
pub use icons::Icons;
pub use indicator::Indicator;
pub use note::{Change, Git, Note, Total};
pub use quote::Quoting;
pub use record::Record;
pub use renderer::{Piece, Renderer};
pub use style::{Format, Style};
pub use time::{TimeStyle, Zone};
pub use view::{Column, Theme, View};

use alloc::vec::Vec;

/// Where rendered bytes go.
pub trait Sink {
    /// The buffer to append to. Renderers never look at, or change, what is in it already.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// The bytes that have gone this way so far, those in the buffer included.
    fn position(&self) -> u64;

    /// Takes bytes that were rendered elsewhere, after what is in the buffer.
    fn append(&mut self, bytes: &[u8]) {
        self.buffer().extend_from_slice(bytes);
        self.checkpoint();
    }

    /// Called between lines (and between the names of `-m`): the moment to write the buffer out if it has
    /// grown large. Must be cheap when it has not.
    fn checkpoint(&mut self);
}

impl Sink for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn position(&self) -> u64 {
        self.len() as u64
    }

    fn checkpoint(&mut self) {}
}
