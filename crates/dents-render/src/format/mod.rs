//! The arrangements of entries, each with its needs.

pub(crate) mod columns;
pub(crate) mod commas;
pub(crate) mod lines;
pub(crate) mod long;
mod prefix;
pub mod tree;

#[cfg(test)]
mod tests;
