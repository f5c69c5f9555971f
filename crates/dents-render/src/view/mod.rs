//! The view: a long format with columns of one's choice, which GNU does not have.

mod column;

pub use column::Column;
