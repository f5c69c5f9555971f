//! The schema of rows, which docs/schema describes.

/// The version of the schema. It changes when a field changes its meaning or is removed; fields may be added at any
/// time.
pub const VERSION: u32 = 1;
