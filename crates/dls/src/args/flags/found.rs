//! What is found out beside what the kernel says of an entry: its state in git, what is below it. GNU has none of it.

use super::Definition;

/// The group of [`super::Group::Found`].
pub(super) const FLAGS: &[Definition] = &[];
