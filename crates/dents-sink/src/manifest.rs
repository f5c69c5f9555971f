//! A scan in several files: a directory of Parquet files, called shards, and a manifest that lists them.
//!
//! The manifest is `manifest.json`, one JSON object:
//!
//! ```json
//! {
//!   "dents": "manifest",
//!   "schema": 1,
//!   "complete": true,
//!   "begun": "2026-11-22T10:00:00.000000000Z",
//!   "ended": "2026-11-22T10:20:00.000000000Z",
//!   "roots": [{"path": "/home"}, {"path_bytes": "L2RhdGEv/w=="}],
//!   "shards": [{"file": "0001.parquet", "rows": 1048576}]
//! }
//! ```
//!
//! `dents` and `schema` say what it is; a reader takes this version of the schema and older ones, and ignores members that it does not know.
//! `begun` and `ended` are RFC 3339; `ended` may be null. A root is a `path` if it is UTF-8, otherwise its bytes are in `path_bytes`, in
//! base64. The rows of the scan are those of all shards in their order. The files are in the directory of the manifest, each named once
//! and by a plain name. If the scan is `complete`, so must be each shard.
//!
//! [`crate::read::open`] reads the directory as one scan.

use crate::dir::{Dir, Named};
use crate::format::Extent;
use crate::output::Output;
use crate::{message, time};
use dents_core::batch::Time;
use dents_render::record::text::{exact, from_base64};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// The name of the manifest in its directory.
pub const NAME: &str = "manifest.json";

/// The version of the schema.
const SCHEMA: u32 = 1;

/// The longest manifest: that of some 500,000 shards.
const LONGEST: u64 = 32 << 20;

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Whether the shards are all of the scan.
    pub extent: Extent,
    /// The start of the scan, by the clock of the machine that began it.
    pub begun: Time,
    /// Its end.
    pub ended: Option<Time>,
    /// The roots, as they were named.
    pub roots: Vec<Vec<u8>>,
    /// The files, in the order of their rows.
    pub shards: Vec<Shard>,
}

/// A file with rows of the scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its name in the directory of the manifest.
    pub file: String,
    /// Its number of rows.
    pub rows: u64,
}

/// The beginning that manifests of all versions have.
#[derive(Deserialize)]
struct Head {
    dents: String,
    schema: u64,
}

/// The object, as it is written.
#[derive(Serialize, Deserialize)]
struct Object<'a> {
    dents: &'a str,
    schema: u32,
    complete: bool,
    begun: String,
    ended: Option<String>,
    roots: Vec<Root>,
    shards: Vec<Shard>,
}

/// One of the two.
#[derive(Serialize, Deserialize)]
struct Root {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
}

impl Root {
    fn of(path: &[u8]) -> Root {
        let (path, path_bytes) = exact(path);
        Root { path: path.map(String::from), path_bytes }
    }

    fn path(self) -> Option<Vec<u8>> {
        match self {
            Root { path: Some(path), path_bytes: None } => Some(path.into_bytes()),
            Root { path: None, path_bytes: Some(bytes) } => from_base64(bytes.as_bytes()),
            _ => None,
        }
    }
}

impl Manifest {
    /// Writes it into the directory, where it replaces an earlier one: see [`Output`]. The shards must be complete before.
    ///
    /// # Errors
    /// If it cannot be written, or if a name of a shard is not a plain name or occurs twice.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let dir = Dir::any(directory).map_err(|error| message::cannot_write(directory, &error))?;
        self.write_in(&dir)
    }

    pub(crate) fn write_in(&self, dir: &Dir) -> io::Result<()> {
        let path = dir.path().join(NAME);
        let way_out = "name each file once, without a directory";
        self.check().map_err(|problem| message::bad_file(&path, &problem, way_out))?;
        let object = Object {
            dents: "manifest",
            schema: SCHEMA,
            complete: self.extent == Extent::Complete,
            begun: time::text(self.begun),
            ended: self.ended.map(time::text),
            roots: self.roots.iter().map(|path| Root::of(path)).collect(),
            shards: self.shards.clone(),
        };
        let mut bytes = serde_json::to_vec_pretty(&object)?;
        bytes.push(b'\n');
        let mut output = Output::create_in(dir.file(NAME)?)?;
        output.write_all(&bytes)?;
        // The manifest of a scan that is not complete is itself complete.
        output.commit(Extent::Complete).map(drop)
    }

    /// Reads that of a directory.
    ///
    /// # Errors
    /// If there is none, or one that cannot be read, or is invalid, or of a later version of the schema.
    pub fn read(directory: &Path) -> io::Result<Manifest> {
        let dir = Dir::any(directory).map_err(|error| message::cannot_read(directory, &error))?;
        Manifest::of_dir(&dir)
    }

    pub(crate) fn of_dir(dir: &Dir) -> io::Result<Manifest> {
        let file = dir.file(NAME)?;
        let bytes = bytes_of(&file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => message::bad_file(
                dir.path(),
                "a directory without manifest.json, so not one of a scan",
                "name a file that `dents scan` wrote; to scan a tree, name it as a path",
            ),
            _ => message::cannot_read(&file.path(), &error),
        })?;
        Manifest::parse(&bytes, &file.path())
    }

    /// `path` is for messages.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> io::Result<Manifest> {
        let damaged = |error: serde_json::Error| message::damaged(path, &error.to_string());
        let Head { dents, schema } = serde_json::from_slice(bytes).map_err(damaged)?;
        if dents != "manifest" {
            return Err(message::bad_file(path, "not the manifest of a scan", "name a directory with one"));
        }
        if schema > u64::from(SCHEMA) {
            return Err(message::too_new(path, schema, SCHEMA));
        }
        let object = serde_json::from_slice(bytes).map_err(damaged)?;
        let manifest = Manifest::of(object).ok_or("a time or a path is not valid".to_string());
        let checked = manifest.and_then(|manifest| manifest.check().map(|()| manifest));
        checked.map_err(|problem| message::damaged(path, &problem))
    }

    fn of(object: Object<'_>) -> Option<Manifest> {
        let time = |text: &str| time::parse(text.as_bytes());
        Some(Manifest {
            extent: if object.complete { Extent::Complete } else { Extent::Partial },
            begun: time(&object.begun)?,
            ended: match object.ended {
                Some(ended) => Some(time(&ended)?),
                None => None,
            },
            roots: object.roots.into_iter().map(Root::path).collect::<Option<_>>()?,
            shards: object.shards,
        })
    }

    /// Whether the names of all shards are plain names, each there once. Otherwise a manifest could make a reader open any file.
    fn check(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for Shard { file, .. } in &self.shards {
            if matches!(&file[..], "" | "." | ".." | NAME) || file.contains(['/', '\0']) {
                return Err(format!("\"{}\" is not the name of a shard", file.escape_debug()));
            }
            if !names.insert(file) {
                return Err(format!("the shard \"{}\" occurs twice", file.escape_debug()));
            }
        }
        Ok(())
    }
}

fn bytes_of(file: &Named) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match file.open()?.take(LONGEST + 1).read_to_end(&mut bytes)? as u64 {
        0..=LONGEST => Ok(bytes),
        _ => Err(io::Error::from(ErrorKind::FileTooLarge)),
    }
}
