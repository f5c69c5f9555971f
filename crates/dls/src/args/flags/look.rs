//! What makes a listing pleasant to look at: icons, columns of one's choice, ages and gradients. GNU has none of it.

use super::super::words::When;
use super::{Definition, Flag};

/// The group of [`super::Group::Look`].
pub(super) const FLAGS: &[Definition] = &[Definition::long(
    "icons",
    Flag::Icons,
    "draw an icon before each name, for a terminal with a Nerd Font; WHEN is always, auto or never",
)
.more(
    "By name, extension and type, so nothing more is asked of the kernel. `auto` draws them on a terminal whose locale \
     is UTF-8. The environment's DLS_ICONS changes them: `DLS_ICONS='*.rs=e7a8:README*=f02d:src/=f07c:di=f024b'`, code \
     points in hexadecimal or the characters themselves. There are none with `--zero` and `--dired`.",
)
.optional_word::<When>("WHEN")];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn icons() {
        plain(Flag::Icons, &[c"--icons", c"--ic"]);
        valued(Flag::Icons, "auto", &[&[c"--icons=auto"]]);
        assert_eq!(complaint(&[c"--icons=x"]), "ls: invalid argument 'x' for '--icons'");
    }
}
