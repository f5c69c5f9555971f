//! Where the file is, and making it.

use crate::environment::Environment;
use alloc::ffi::CString;
use alloc::vec::Vec;
use dents_sys::{Errno, Result, file};

/// Where the options come from, or why from nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A file at this path, if it exists.
    File {
        /// The file.
        path: CString,
        /// Only lines that begin with `always` count: stdout is not a terminal.
        only_always: bool,
        /// `DLS_CONFIG` names it.
        named: bool,
    },
    /// `--no-config`.
    Forbidden,
    /// `DLS_CONFIG` is empty.
    Disabled,
    /// Stdout is no terminal, and `DLS_CONFIG` is not set.
    NoTerminal,
    /// No home.
    NoHome,
}

/// `DLS_CONFIG`; otherwise `dls/config` in `XDG_CONFIG_HOME`, otherwise in `.config` at home; the latter two on a
/// terminal alone. Relative paths in `XDG_CONFIG_HOME` (as its specification demands) and `HOME` are ignored.
pub(super) fn of(environment: &Environment<'_>, terminal: bool) -> Location {
    if let Some(named) = environment.dls_config {
        return match CString::new(named) {
            Ok(path) if !named.is_empty() => Location::File { path, only_always: !terminal, named: true },
            _ => Location::Disabled,
        };
    }
    if !terminal {
        return Location::NoTerminal;
    }
    let absolute = |path: &&[u8]| path.starts_with(b"/");
    let parts = match (environment.xdg_config_home.filter(absolute), environment.home.filter(absolute)) {
        (Some(config), _) => [config, b"/dls/config"],
        (None, Some(home)) => [home, b"/.config/dls/config"],
        (None, None) => return Location::NoHome,
    };
    match CString::new(parts.concat()) {
        Ok(path) => Location::File { path, only_always: false, named: false },
        Err(_) => Location::NoHome,
    }
}

/// Creates the file and the missing directories above it. An existing file is an error, `EEXIST`.
pub(super) fn create(path: &CString, text: &[u8]) -> Result<()> {
    match file::create(path, text) {
        Err(Errno::NOENT) => {
            make_above(path.as_bytes())?;
            file::create(path, text)
        }
        result => result,
    }
}

/// Creates all directories above, the topmost first. An existing one costs one call.
fn make_above(path: &[u8]) -> Result<()> {
    let slashes = path.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/');
    for (at, _) in slashes {
        let above: Vec<u8> = path[..at].into();
        match CString::new(above).map(|above| file::make_directory(&above)) {
            Ok(Ok(()) | Err(Errno::EXIST)) => {}
            // A directory may be writable although one above it is not. So only the error of the last one matters.
            Ok(Err(Errno::ROFS | Errno::ACCESS | Errno::PERM)) => {}
            Ok(Err(errno)) => return Err(errno),
            Err(_) => return Err(Errno::INVAL),
        }
    }
    Ok(())
}
