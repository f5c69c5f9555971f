//! Fuzz targets for the output of git.

use super::settings::Settings;
use super::status::Statuses;

/// The output of `git status`: the parser finds no more paths than it has, and can look up each of them.
pub fn git_status(bytes: &[u8]) {
    let statuses = Statuses::parse(bytes.to_vec());
    let pieces = || bytes.split(|byte| *byte == 0);
    assert!(statuses.len() <= pieces().count());
    for path in pieces().flat_map(|piece| piece.rsplitn(2, |byte| *byte == b' ')).take(64) {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let (directory, name) = slash.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        let within = statuses.within(directory);
        for name in [name, b".", b"..", b".git"] {
            let _ = (within.entry(name), within.is_ignored());
        }
    }
}

/// The output of `git config`: every setting that is overridden has a key that the output contains.
pub fn git_settings(bytes: &[u8]) {
    let Some(Settings { options, variables, .. }) = Settings::parse(bytes) else { return };
    assert!(options.len() == variables.len() + 2 && options[0].to_bytes() == b"-c");
    assert!(options[1].to_bytes().starts_with(b"core.fsmonitor="));
    for (option, variable) in options[2..].iter().zip(&variables) {
        let name = variable.to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
        assert!(option.to_bytes().starts_with(b"--config-env=") && option.to_bytes().ends_with(name));
        assert!(name.starts_with(b"DLS_GIT_"));
    }
}
