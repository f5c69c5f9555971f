//! The options of the output.

use super::format::{self, Format};
use crate::{details, message};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use dents_sink::read::Columns;
use dents_sink::time::Unit;
use dents_sink::{About, Detail};
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of the output.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
#[group(skip)]
pub(crate) struct Output {
    /// End paths with NUL instead of a newline
    #[arg(short = '0', long)]
    pub(crate) null: bool,
    /// Show nothing
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Show entries in this format; see the directives below
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["null", "quiet"], value_parser = format::parser())]
    pub(crate) printf: Option<Arc<Format>>,
    /// Write to a file, which only a complete scan replaces; - is standard output
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Keep a journal in this directory until FILE is complete; after a kill, the command resumes from it when run again
    #[arg(long, value_name = "DIR", requires = "file", conflicts_with = "gitignore")]
    pub(crate) journal: Option<PathBuf>,
    /// Write text, rows with all metadata, or the JSON of ncdu for one PATH [default: by the extension of FILE; text for none and .txt]
    #[arg(long, value_name = "FORMAT", value_parser = kinds())]
    format: Option<Kind>,
    /// Unit of times in Parquet: us, which all its readers know, or ns [default: us]
    #[arg(long, value_name = "UNIT", value_parser = units())]
    timestamps: Option<Unit>,
    /// Write these columns too, comma-separated: project, flags, acl, xattrs, filesystem; on Lustre stripes, pool, hsm, or lustre
    /// for these three; all for all. They are requested only for entries that pass; with --from, keep these of FILE [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = columns())]
    columns: Vec<Columns>,
    /// Make indexes in SQLite: on path, parent, size, mtime and user
    #[arg(long)]
    index: bool,
    /// Show statistics on standard error at the end: entries by type, requests, time
    #[arg(short = 's', long)]
    pub(crate) statistics: bool,
    /// Show progress [default: after a second, if standard error is a terminal and standard output is not]
    #[arg(short = 'p', long)]
    pub(crate) progress: bool,
    /// Use one worker: directories come in the order of reading, depth first
    #[arg(long, conflicts_with = "threads")]
    pub(crate) sync: bool,
}

/// Parses a format: text (`None`), or one of the formats of rows.
type Kind = Option<dents_sink::Format>;

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(kind_names()).map(|name| dents_sink::Format::of_name(&name))
}

/// The words of `--format`.
fn kind_names() -> impl Iterator<Item = &'static str> {
    let names = dents_sink::Format::ALL.iter().map(|format| format.name());
    ["text"].into_iter().chain(names).chain(["ncdu"])
}

/// The format by the extension of a file name. With an unknown extension an option must decide: one about lines, or
/// `--format`.
fn by_name(path: &Path, lines: bool) -> Result<Kind, String> {
    let format = dents_sink::Format::of_path(path);
    let text = path.extension().is_none_or(|end| end == "txt") || lines;
    if format.is_some() || text {
        return Ok(format);
    }
    let names = kind_names().collect::<Vec<_>>().join(", ");
    Err(format!("the name of {} does not tell the format: give --format, one of {names}", shown(path)))
}

fn shown(path: &Path) -> String {
    message::quoted_text(path.as_os_str().as_bytes())
}

/// Parses the name of a column beyond the usual ones, or of several.
fn columns() -> impl TypedValueParser<Value = Columns> {
    const SEVERAL: [(&str, Columns); 2] = [("lustre", details::LUSTRE), ("all", Columns::DETAILS)];
    let names = Detail::ALL.iter().map(|detail| detail.name()).chain(SEVERAL.iter().map(|(name, _)| *name));
    PossibleValuesParser::new(names).map(|name| {
        let one = Detail::ALL.iter().find(|detail| detail.name() == name).map(|detail| detail.column());
        one.or_else(|| SEVERAL.iter().find(|(several, _)| *several == name).map(|(_, columns)| *columns))
            .unwrap_or_default()
    })
}

fn units() -> impl TypedValueParser<Value = Unit> {
    PossibleValuesParser::new(["us", "ns"]).map(|name| if name == "ns" { Unit::Nanos } else { Unit::Micros })
}

/// The output and its format.
pub(crate) enum Target<'a> {
    /// Lines.
    Text(&'a Path),
    /// Rows.
    Rows(dents_sink::Format, &'a Path),
}

impl Output {
    /// The FILE, or `-`.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_deref().unwrap_or(Path::new("-"))
    }

    /// The output and its format.
    ///
    /// # Errors
    /// A combination of options that makes no sense.
    pub(crate) fn target(&self) -> Result<Target<'_>, String> {
        let path = self.path();
        let lines = [(self.null, "-0"), (self.quiet, "-q"), (self.printf.is_some(), "--printf")];
        let lines = lines.into_iter().find(|(given, _)| *given).map(|(_, option)| option);
        let kind = match self.format {
            Some(kind) => kind,
            None => by_name(path, lines.is_some())?,
        };
        if self.timestamps.is_some() && kind.is_none_or(|format| format.name() != "parquet") {
            return Err(format!(
                "--timestamps is for Parquet; {}",
                match kind {
                    Some(format) => format!("{} always keeps nanoseconds", format.name()),
                    None => "text shows times as --printf says".to_string(),
                }
            ));
        }
        if self.index && kind.is_none_or(|format| format.name() != "sqlite") {
            return Err("--index is for SQLite: name a FILE that ends in .sqlite, or give --format sqlite"
                .to_string());
        }
        if !self.columns.is_empty() && kind.is_none() {
            return Err("--columns is for files of rows: name a FILE that ends in .parquet, .sqlite or .ndjson, or give \
                        --format"
                .to_string());
        }
        let Some(format) = kind else {
            return match &self.journal {
                Some(_) => Err(
                    "--journal keeps rows, and text has none: name a FILE that ends in .parquet, .sqlite or \
                                .ndjson, or give --format"
                        .to_string(),
                ),
                None => Ok(Target::Text(path)),
            };
        };
        if let Some(option) = lines {
            let name = format.name();
            return Err(match self.format {
                Some(_) => format!("{option} is for lines of text, and --format {name} has none"),
                None => format!(
                    "{option} is for lines of text, and {} is {name} by its name: leave {option} out, or give \
                     --format text",
                    shown(path)
                ),
            });
        }
        let is_text = matches!(format, dents_sink::Format::Ndjson | dents_sink::Format::Ncdu);
        if format == dents_sink::Format::Ncdu && !self.columns.is_empty() {
            return Err(
                "--columns is for files of rows, and ncdu's have no place for more: choose another --format"
                    .to_string(),
            );
        }
        if !is_text && path == Path::new("-") && std::io::stdout().is_terminal() {
            let name = format.name();
            return Err(format!("{name} is not for a terminal; write it to a file, as with -o scan.{name}"));
        }
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(format!("{} is a directory; name a file", shown(path)));
        }
        Ok(Target::Rows(format, path))
    }

    /// The metadata that a file of rows with these details keeps of a scan that began at this time, in these subvolumes, and has ended
    /// if it is read from a file.
    pub(crate) fn about<'a>(
        &self,
        (begun, ended): (Time, Option<Time>),
        subvolumes: &'a [Subvolume],
        details: Columns,
    ) -> About<'a> {
        let program = concat!("dents ", env!("CARGO_PKG_VERSION"));
        let timestamps = self.timestamps.unwrap_or_default();
        About { program, begun, ended, timestamps, index: self.index, details, subvolumes }
    }

    /// The details that were named; `None` if none were.
    pub(crate) fn details(&self) -> Option<Columns> {
        self.columns.iter().copied().reduce(|all, one| all | one)
    }

    /// An option that was given and makes sense for output alone.
    pub(crate) fn about_files(&self) -> Option<&'static str> {
        let given = [
            (self.null, "-0"),
            (self.quiet, "-q"),
            (self.printf.is_some(), "--printf"),
            (self.file.is_some(), "-o"),
            (self.format.is_some(), "--format"),
            (self.timestamps.is_some(), "--timestamps"),
            (self.index, "--index"),
            (!self.columns.is_empty(), "--columns"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// The end of a line: NUL or newline.
    pub(crate) fn end_of_line(&self) -> u8 {
        if self.null { b'\0' } else { b'\n' }
    }

    /// Whether the output goes to a terminal.
    pub(crate) fn is_seen(&self) -> bool {
        let stdout = self.file.as_deref().is_none_or(|path| path == Path::new("-"));
        stdout && !self.quiet && std::io::stdout().is_terminal()
    }
}
