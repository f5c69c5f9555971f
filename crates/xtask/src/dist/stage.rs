//! Puts the files of the programs where a system expects them, and packs them.

use std::path::Path;
use std::process::Command;

use super::build::Workshop;
use crate::step::{Result, copy, names, spell, succeed, write};

/// Where the completions of each shell belong below `share`: on any system, and on Debian.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// Below `/usr/local`.
    Plain,
    /// Below `/usr`, where zsh on Debian searches another directory.
    Debian,
}

/// The version of a release.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The directory in the tarball, and the name of the tarball without its ending.
pub(super) fn name() -> String {
    format!("dents-{VERSION}-x86_64-linux")
}

/// The tarball: unpacked into `/usr/local` it is installed.
pub(super) fn tarball(workshop: &Workshop, notices: &str, out: &Path) -> Result<()> {
    let name = name();
    let dir = workshop.staged.join(&name);
    for program in ["dls", "dents"] {
        copy(&workshop.program(program), &dir.join("bin"), program)?;
    }
    shared(&workshop.source, &dir.join("share"), Layout::Plain)?;
    let doc = dir.join("share/doc/dents");
    for (file, page) in
        [("README.md", "README.md"), ("CHANGELOG.md", "CHANGELOG.md"), ("docs/INSTALL.md", "INSTALL.md")]
    {
        copy(&workshop.source.join(file), &doc, page)?;
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&workshop.source.join(licence), &doc, licence)?;
    }
    write(doc.join("THIRD-PARTY.txt"), notices)?;
    pack(workshop, &name, &out.join(format!("{name}.tar.gz")))
}

/// Manual pages and completions, in a directory that is called `share`.
pub(super) fn shared(source: &Path, share: &Path, layout: Layout) -> Result<()> {
    let man = source.join("man");
    for page in names(&man)?.iter().filter(|name| name.ends_with(".1")) {
        copy(&man.join(page), &share.join("man/man1"), page)?;
    }
    let zsh = match layout {
        Layout::Plain => "zsh/site-functions",
        Layout::Debian => "zsh/vendor-completions",
    };
    let completions = source.join("completions");
    for file in names(&completions)? {
        let (dir, name) = match file.rsplit_once('.') {
            Some((program, "bash")) => ("bash-completion/completions", program),
            Some((_, "fish")) => ("fish/vendor_completions.d", file.as_str()),
            _ => (zsh, file.as_str()),
        };
        copy(&completions.join(&file), &share.join(dir), name)?;
    }
    Ok(())
}

/// Packs a staged directory: sorted, with the owner 0, the modes of a usual umask and the time of the commit.
fn pack(workshop: &Workshop, name: &str, to: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go=rX", &format!("--mtime=@{}", workshop.epoch)]);
    // Without -n, gzip would write the time into its header.
    tar.args(["--use-compress-program=gzip -9n", "-C"]).arg(&workshop.staged).arg("-cf").arg(to).arg(name);
    println!("\n== {}\n   {}", to.display(), spell(&tar));
    succeed(&mut tar)
}
