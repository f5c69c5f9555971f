//! Output for programs, and for directories too large to read. GNU has none of it.

use super::Definition;

/// The group of [`super::Group::Programs`].
pub(super) const FLAGS: &[Definition] = &[];
