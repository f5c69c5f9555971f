//! Errors of the library that encodes and decodes.

use ::parquet::errors::ParquetError;
use std::io;

/// The error of the output, if there is one inside; it names the file already.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}
