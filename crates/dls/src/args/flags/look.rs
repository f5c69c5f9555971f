//! What makes a listing pleasant to look at: icons, columns of one's choice, ages and gradients. GNU has none of it.

use super::Definition;

/// The group of [`super::Group::Look`].
pub(super) const FLAGS: &[Definition] = &[];
