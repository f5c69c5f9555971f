//! The arrangements of entries, each with what it needs to know of them.

pub(crate) mod columns;
pub(crate) mod commas;
mod frills;
pub(crate) mod lines;
pub(crate) mod long;

#[cfg(test)]
mod tests;
