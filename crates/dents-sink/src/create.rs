//! Makes the sink of each format.

use crate::format::{About, Format};
use crate::ndjson;
use crate::output::{Output, Own};
use crate::sink::Sink;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::{fs, io};

/// Begins a file, with the metadata of `about`.
///
/// # Errors
/// If the file cannot be created, or cannot have this format: the message names the file, the problem and a remedy.
pub fn create(path: &Path, format: Format, about: &About<'_>) -> io::Result<Box<dyn Sink>> {
    let output = Output::create(path)?;
    Ok(match format {
        Format::Ndjson => Box::new(ndjson::Ndjson::new(output, about)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Parquet::new(output, about)?),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => Box::new(crate::sqlite::Sqlite::new(output, about)?),
        #[cfg(feature = "parquet")]
        Format::Ncdu => Box::new(crate::ncdu::Ncdu::new(output, about)),
    })
}

/// Checks whether [`create()`] would succeed, before a caller works for hours. Creates a file in the same directory and removes it
/// again. For a FIFO it checks only the format, because to open the FIFO would wait for a reader. Returns where the file will be.
///
/// # Errors
/// Those of [`create()`].
pub fn check(path: &Path, format: Format) -> io::Result<Option<Own>> {
    let waits = fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo());
    let output = if waits { None } else { Some(Output::create(path)?) };
    let own = output.and_then(|output| output.own());
    match format {
        #[cfg(feature = "sqlite")]
        Format::Sqlite if own.is_none() => Err(crate::sqlite::needs_a_file(path)),
        _ => Ok(own),
    }
}
