//! `--changed-since SCAN`: entries that are new or changed since a scan began.

use crate::message;
use dents_core::batch::Time;
use dents_core::bulk::{self, Subvolume};
use dents_sink::read;
use dents_sys::Timestamp;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The start of a scan.
#[derive(Clone, Debug)]
pub(crate) struct Since {
    /// The file, quoted.
    pub(crate) scan: String,
    /// What changed before this moment, the scan has as it is.
    pub(crate) time: Time,
    /// The subvolumes where it began.
    pub(crate) subvolumes: Arc<[Subvolume]>,
}

impl Since {
    /// Reads the start from a scan file: its footer, or its last line.
    pub(super) fn parse(word: OsString) -> Result<Since, String> {
        let scan = message::quoted_text(word.as_bytes());
        let reader = read::open(Path::new(&word)).map_err(|error| message::plain(&error))?;
        let Some(Time { sec, nsec }) = reader.span().begun else {
            return Err(format!(
                "{scan} does not have the time of its start; name a file that `dents scan -o` wrote"
            ));
        };
        let Timestamp { sec, nsec } = bulk::a_tick_before(Timestamp { sec, nsec });
        let time = Time { sec, nsec };
        Ok(Since { scan, time, subvolumes: reader.subvolumes().into() })
    }
}
