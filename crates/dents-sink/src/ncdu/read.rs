//! The reader of ncdu's JSON. The arrays are read without recursion, so any depth is possible; each object is read as a whole.

use crate::details::Details;
use crate::format::{Extent, Format};
use crate::message;
use crate::row::{Asked, Fault, Row};
use crate::scan_file::{Columns, Limits, ScanFile, Selection, Span};
use dents_core::batch::Time;
use dents_core::facts::{Facts, device_halves};
use dents_core::needs::Kind;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use siphasher::sip::SipHasher13;
use std::fmt;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest object.
const LONGEST: usize = 1 << 20;
/// The number of an error whose number is not known.
const EIO: i32 = 5;

/// A file of ncdu.
pub(crate) struct Dump {
    span: Span,
    extent: Extent,
    path: PathBuf,
    bytes: Bytes,
}

/// The metadata of the file.
#[derive(Deserialize)]
struct About {
    timestamp: Option<f64>,
    complete: Option<bool>,
}

/// The object of an entry.
#[derive(Deserialize)]
struct Info {
    name: Name,
    #[serde(default)]
    asize: u64,
    #[serde(default)]
    dsize: u64,
    dev: Option<u64>,
    ino: Option<u64>,
    nlink: Option<u32>,
    #[serde(default)]
    hlnkc: bool,
    #[serde(default)]
    notreg: bool,
    #[serde(default)]
    read_error: bool,
    excluded: Option<Name>,
    uid: Option<u32>,
    gid: Option<u32>,
    mode: Option<u16>,
    mtime: Option<f64>,
}

/// A text that need not be UTF-8.
struct Name(Vec<u8>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct OfBytes;
        impl Visitor<'_> for OfBytes {
            type Value = Name;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Name, E> {
                Ok(Name(bytes.to_vec()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(OfBytes)
    }
}

/// An open directory.
struct Level {
    /// The length of the path of the directory above it.
    before: usize,
    dev: (u32, u32),
    /// Of its path.
    hash: u64,
}

/// The reason why reading ends early.
enum Stop {
    /// The file is damaged.
    Damaged(String),
    Cannot(io::Error),
    /// The error of the receiver.
    Receiver(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Cannot(error)
    }
}

impl From<&str> for Stop {
    fn from(problem: &str) -> Stop {
        Stop::Damaged(problem.to_owned())
    }
}

impl Dump {
    /// Reads the beginning of a file, of which some bytes were read already.
    pub(crate) fn new(path: &Path, begin: Vec<u8>, file: File) -> io::Result<Dump> {
        let all: Box<dyn Read + Send> = Box::new(io::Cursor::new(begin).chain(file));
        let mut bytes = Bytes { file: BufReader::with_capacity(256 << 10, all), at: 0 };
        let about = header(&mut bytes).map_err(|stop| report(stop, path, bytes.at))?;
        let seconds = |time: f64| Time { sec: time as i64, nsec: 0 };
        let time = about.timestamp.map(seconds);
        let extent = if about.complete == Some(false) { Extent::Partial } else { Extent::Complete };
        Ok(Dump { span: Span { begun: time, ended: time }, extent, path: path.to_path_buf(), bytes })
    }
}

impl ScanFile for Dump {
    fn format(&self) -> Format {
        Format::Ncdu
    }

    fn span(&self) -> Span {
        self.span
    }

    /// A directory comes before what is in it.
    fn each(
        &mut self,
        wanted: &Selection<'_>,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        let root_failed = each(&mut self.bytes, &mut wanted.filter(give))
            .map_err(|stop| report(stop, &self.path, self.bytes.at))?;
        Ok(Some(if root_failed { Extent::Partial } else { self.extent }))
    }
}

fn report(stop: Stop, path: &Path, at: u64) -> io::Error {
    match stop {
        Stop::Damaged(problem) => message::damaged(path, &format!("byte {at}: {problem}")),
        Stop::Cannot(error) => message::cannot_read(path, &error),
        Stop::Receiver(error) => error,
    }
}

/// Reads `[1,2,{…},`.
fn header(bytes: &mut Bytes) -> Result<About, Stop> {
    bytes.expect(b'[')?;
    let major = bytes.number()?;
    bytes.expect(b',')?;
    let _ = bytes.number()?;
    bytes.expect(b',')?;
    if major != 1 {
        return Err(Stop::Damaged(format!(
            "version {major} of ncdu's format, and this program knows version 1"
        )));
    }
    let object = bytes.object()?;
    let about =
        serde_json::from_slice(&object).map_err(|error| Stop::Damaged(format!("metadata: {error}")))?;
    bytes.expect(b',')?;
    Ok(about)
}

/// Reads the directories and the end. Returns whether the root could not be read.
fn each(bytes: &mut Bytes, give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> Result<bool, Stop> {
    let (mut path, mut levels): (Vec<u8>, Vec<Level>) = (Vec::new(), Vec::new());
    let (mut root_failed, mut limits) = (false, Limits::new(Columns::all()));
    let mut checked = |row: &Row<'_>| {
        limits.check(row).map_err(Stop::Damaged)?;
        give(row).map_err(Stop::Receiver)
    };
    loop {
        let is_directory = bytes.peek()? == Some(b'[');
        if is_directory {
            bytes.expect(b'[')?;
        } else if levels.is_empty() {
            return Err("the root is no directory".into());
        }
        let object = bytes.object()?;
        let info: Info = serde_json::from_slice(&object)
            .map_err(|error| Stop::Damaged(format!("no entry of ncdu: {error}")))?;
        let dev = info.dev.map_or(levels.last().map_or((0, 0), |level| level.dev), device_halves);
        let above = levels.last().map_or(0, |level| level.hash);
        let position = Position { parent: &path, depth: levels.len() as u32, dev, above };
        info.give(is_directory, position, &mut checked)?;
        if is_directory {
            root_failed |= levels.is_empty() && info.read_error;
            levels.push(Level { before: path.len(), dev, hash: hash(above, &info.name.0) });
            let separator = dents_core::path::separator(&path);
            path.extend_from_slice(separator);
            path.extend_from_slice(&info.name.0);
        }
        loop {
            match bytes.next()? {
                Some(b',') => break,
                Some(b']') => {
                    let Some(level) = levels.pop() else { return Err("a `]` too many".into()) };
                    path.truncate(level.before);
                    if levels.is_empty() {
                        return ending(bytes).map(|()| root_failed);
                    }
                }
                Some(_) => return Err("neither `,` nor `]` behind an entry".into()),
                None => return Err("the end is missing".into()),
            }
        }
    }
}

/// Reads what is behind the root: elements that another version may have added, which have no meaning here, and the end.
fn ending(bytes: &mut Bytes) -> Result<(), Stop> {
    loop {
        match bytes.next()? {
            Some(b',') => bytes.skip_value()?,
            Some(b']') if bytes.peek()?.is_none() => return Ok(()),
            Some(b']') => return Err("something behind the end".into()),
            Some(_) => return Err("neither `,` nor `]` behind the root".into()),
            None => return Err("the end is missing".into()),
        }
    }
}

impl Info {
    fn kind(&self, is_directory: bool) -> Kind {
        match (self.mode.map(Kind::from_mode), &self.excluded) {
            _ if is_directory => Kind::Dir,
            (Some(kind), _) if kind != Kind::Unknown => kind,
            // Excluded because it is another file system: a directory.
            (_, Some(Name(reason))) => {
                if reason == b"pattern" {
                    Kind::Unknown
                } else {
                    Kind::Dir
                }
            }
            // Of the others only links have a size.
            _ if self.notreg && self.asize > 0 => Kind::Link,
            _ if self.notreg || self.read_error => Kind::Unknown,
            _ => Kind::Reg,
        }
    }

    /// Passes on the row of an entry. A directory that could not be read has a second one.
    fn give(
        &self,
        is_directory: bool,
        position: Position<'_>,
        give: &mut dyn FnMut(&Row<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Position { parent, depth, .. } = position;
        let kind = self.kind(is_directory);
        let name = &self.name.0;
        let has_facts = self.excluded.is_none() && (is_directory || !self.read_error);
        let facts = has_facts.then(|| self.facts(kind, position));
        let asked = |asked| Fault { asked, errno: EIO };
        let fault = (self.read_error && !is_directory).then(|| asked(Asked::Stat));
        let row = Row { parent, name, depth, kind, facts, target: None, details: Details::default(), fault };
        give(&row)?;
        if self.read_error && is_directory {
            give(&Row { facts: None, fault: Some(asked(Asked::Read)), ..row })?;
        }
        Ok(())
    }

    fn facts(&self, kind: Kind, position: Position<'_>) -> Facts<'static> {
        let known = [
            (Columns::MODE, self.mode.is_some()),
            (Columns::UID, self.uid.is_some()),
            (Columns::GID, self.gid.is_some()),
            (Columns::MTIME, self.mtime.is_some()),
        ];
        let unknown = known.iter().filter(|(_, is_known)| !is_known).map(|(column, _)| *column);
        let unknown = unknown.fold(Columns::ATIME | Columns::CTIME, |all, column| all | column);
        let mtime = Time { sec: self.mtime.unwrap_or_default() as i64, nsec: 0 };
        let nlink = self.nlink.unwrap_or(if self.hlnkc { 2 } else { 1 });
        let facts = Facts {
            dev: position.dev,
            // The same in each file, and greater than the numbers of file systems, which count up.
            ino: self.ino.unwrap_or_else(|| hash(position.above, &self.name.0) | 1 << 63),
            mode: self.mode.unwrap_or_default(),
            nlink: if self.hlnkc { nlink.max(2) } else { nlink },
            uid: self.uid.unwrap_or_default(),
            gid: self.gid.unwrap_or_default(),
            user: None,
            group: None,
            size: self.asize,
            allocated: self.dsize,
            atime: Time::default(),
            btime: None,
            ctime: Time::default(),
            mtime,
            lazy: false,
            unknown,
        };
        facts.without(unknown, kind)
    }
}

/// Where an entry is.
#[derive(Clone, Copy)]
struct Position<'p> {
    parent: &'p [u8],
    depth: u32,
    /// Its device, unless its object has another.
    dev: (u32, u32),
    /// The hash of the path of its directory.
    above: u64,
}

/// A hash of a path, from that of its directory.
fn hash(above: u64, name: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(&above.to_le_bytes());
    hasher.write(name);
    hasher.finish()
}

/// The bytes of the file, with white space left out between tokens.
struct Bytes {
    file: BufReader<Box<dyn Read + Send>>,
    /// The number of bytes that were read.
    at: u64,
}

impl Bytes {
    /// The next byte that is not white space, which is not taken; `None` at the end.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let some = self.file.fill_buf()?;
            if some.is_empty() {
                return Ok(None);
            }
            let blank = some.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = some.get(blank).copied();
            self.file.consume(blank);
            self.at += blank as u64;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        let next = self.peek()?;
        if next.is_some() {
            self.file.consume(1);
            self.at += 1;
        }
        Ok(next)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        match self.next()? {
            Some(next) if next == byte => Ok(()),
            Some(_) => Err(Stop::Damaged(format!("no `{}`", char::from(byte)))),
            None => Err("the end is missing".into()),
        }
    }

    fn number(&mut self) -> Result<u32, Stop> {
        let mut number = None;
        while let Some(digit) = self.peek()?.filter(u8::is_ascii_digit) {
            self.expect(digit)?;
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(u32::from(digit - b'0')));
        }
        number.ok_or_else(|| "no version of ncdu's format".into())
    }

    /// Passes over a value of any size, without its syntax being checked but for brackets and quotes.
    fn skip_value(&mut self) -> Result<(), Stop> {
        let mut open = Vec::new();
        loop {
            match self.peek()? {
                None => return Err("the end is missing".into()),
                Some(b',' | b']' | b'}') if open.is_empty() => return Err("no value behind a `,`".into()),
                Some(b'"') => self.skip_text()?,
                Some(b'[' | b'{') if open.len() == LONGEST => {
                    return Err("brackets deeper than 1,048,576".into());
                }
                Some(bracket @ (b'[' | b'{')) => {
                    open.push(bracket);
                    self.expect(bracket)?;
                }
                Some(bracket @ (b']' | b'}')) => {
                    if open.pop() != Some(if bracket == b']' { b'[' } else { b'{' }) {
                        return Err(Stop::Damaged(format!("a `{}` too many", char::from(bracket))));
                    }
                    self.expect(bracket)?;
                }
                Some(byte) => self.expect(byte)?,
            }
            // A number or a word goes on to the next mark.
            let is_over = matches!(self.peek()?, Some(b',' | b']' | b'}') | None);
            if open.is_empty() && is_over {
                return Ok(());
            }
        }
    }

    /// Passes over a text in its quotes.
    fn skip_text(&mut self) -> Result<(), Stop> {
        self.expect(b'"')?;
        let mut is_escaped = false;
        loop {
            let some = self.file.fill_buf()?;
            let Some(byte) = some.first().copied() else { return Err("the end is missing".into()) };
            self.file.consume(1);
            self.at += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return Ok(()),
                _ => {}
            }
        }
    }

    /// An object, from `{` to its `}`.
    fn object(&mut self) -> Result<Vec<u8>, Stop> {
        if self.peek()? != Some(b'{') {
            return Err("no `{`".into());
        }
        let (mut object, mut depth) = (Vec::with_capacity(256), 0_u32);
        let (mut is_text, mut is_escaped) = (false, false);
        loop {
            let some = self.file.fill_buf()?;
            if some.is_empty() {
                return Err("the end is missing".into());
            }
            let end = some.iter().position(|byte| {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = is_text,
                    b'"' => is_text = !is_text,
                    b'{' if !is_text => depth += 1,
                    b'}' if !is_text => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            let taken = end.map_or(some.len(), |end| end + 1);
            object.extend_from_slice(&some[..taken]);
            self.file.consume(taken);
            self.at += taken as u64;
            if end.is_some() {
                return Ok(object);
            }
            if object.len() > LONGEST {
                return Err("an object is longer than 1 MiB".into());
            }
        }
    }
}
