//! Writes the lines of `--printf`.

use super::general::{general, number, text};
use super::{Face, Field, Format, Item, Shape};
use crate::consumer::Consumer;
use crate::details::FileSystems;
use crate::entry::{Found, Origin};
use crate::filter::kinds::letter;
use crate::owners::{Names, SharedOwners};
use crate::scan::text_output::{Lines, TextOutput};
use dents_core::batch::{Batch, Target};
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use dents_core::tree::{Place, Step};
use dents_render::mode;
use dents_render::record::words;
use dents_render::time::Stamp;
use dents_sys::Errno;
use dents_sys::stat::{self, Flags, Mask};
use std::io::Write as _;

/// Writes the lines of one worker.
pub(crate) struct Printer<'p> {
    format: &'p Format,
    lines: Lines<'p>,
    stamps: Vec<Stamp>,
    names: Names<'p>,
    wanted_names: Needs,
    file_systems: FileSystems,
    scratch: Vec<u8>,
}

impl<'p> Printer<'p> {
    pub(crate) fn new(format: &'p Format, out: &'p TextOutput<'p>, owners: &'p SharedOwners) -> Self {
        let stamps = format.styles.iter().map(|style| style.stamp(&format.zone)).collect();
        let (names, wanted_names) = (Names::new(owners), format.names());
        let (lines, file_systems) = (Lines::new(out), FileSystems::default());
        Printer { format, lines, stamps, names, wanted_names, file_systems, scratch: Vec::new() }
    }

    fn field(&mut self, field: Field, shape: &Shape, at: &At<'_>) {
        let out = &mut self.lines.bytes;
        if at.facts.lacks(field.needs()) {
            return text(b"", shape, out);
        }
        match field {
            Field::Depth => return number(&at.found.depth.to_string(), true, shape, out),
            Field::Mode => {
                let mode = format!("{:o}", at.facts.mode & 0o7777);
                let prefix = if shape.alternate && !mode.starts_with('0') { "0" } else { "" };
                return number(&[prefix, &mode].concat(), false, shape, out);
            }
            Field::Sparseness => {
                let value = general(at.sparseness(), shape.precision.unwrap_or(6));
                return number(&value, true, &Shape { precision: None, ..*shape }, out);
            }
            Field::FileSystem => {
                let dir = if let Origin::Live(place, _) = at.found.origin { place.dir } else { None };
                let name = self.file_systems.of(dir, at.facts.dev);
                return text(name.unwrap_or("unknown").as_bytes(), shape, out);
            }
            _ => {}
        }
        if *shape == Shape::default() {
            return at.write(field, &mut self.stamps, &self.names, out);
        }
        self.scratch.clear();
        at.write(field, &mut self.stamps, &self.names, &mut self.scratch);
        text(&self.scratch, shape, out);
    }
}

impl Consumer for Printer<'_> {
    type State = ();

    fn begin(&mut self, _: &Place<'_>, batch: &Batch) {
        self.names.learn(batch, self.wanted_names);
    }

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        let at = At { found, facts: found.facts().unwrap_or_default() };
        let format = self.format;
        for item in &format.items {
            match item {
                Item::Text(text) => self.lines.bytes.extend_from_slice(text),
                Item::Field(field, shape) => self.field(*field, shape, &at),
            }
        }
        Step::Enter
    }

    fn end(&mut self, _: Option<&Place<'_>>) {
        self.lines.pause();
    }

    fn finish(&mut self) {
        self.lines.flush();
    }
}

/// An entry and its metadata; 0 where it is unknown.
struct At<'e> {
    found: &'e Found<'e>,
    facts: Facts<'e>,
}

impl At<'_> {
    /// Appends a field as it is.
    fn write(&self, field: Field, stamps: &mut [Stamp], names: &Names<'_>, out: &mut Vec<u8>) {
        let (facts, found) = (&self.facts, self.found);
        match field {
            Field::Path | Field::Name | Field::Directory | Field::Below | Field::Operand => {
                self.path(field, out)
            }
            Field::Bytes => decimal(facts.size, out),
            Field::Blocks => decimal(facts.allocated / 512, out),
            Field::Kibibytes => decimal(facts.allocated.div_ceil(1024), out),
            Field::Links => decimal(facts.nlink.into(), out),
            Field::Inode => decimal(facts.ino, out),
            Field::Uid => decimal(facts.uid.into(), out),
            Field::Gid => decimal(facts.gid.into(), out),
            Field::User => named(facts.user.or_else(|| names.user(facts.uid)), facts.uid, out),
            Field::Group => named(facts.group.or_else(|| names.group(facts.gid)), facts.gid, out),
            Field::Letters => out.extend_from_slice(&mode::letters(facts.mode)),
            Field::Type => out.push(letter(found.kind)),
            Field::TargetType => out.push(self.target_letter()),
            Field::Target => out.extend_from_slice(found.link().unwrap_or_default()),
            Field::Device => decimal(words::device(facts.dev), out),
            Field::Time(which, face) => self.time(which, face, stamps, out),
            Field::Depth | Field::Mode | Field::Sparseness | Field::FileSystem => {}
        }
    }

    /// A path or a part of it. For operands with slashes at the end, as `find` cuts them.
    fn path(&self, field: Field, out: &mut Vec<u8>) {
        let Found { parent: above, name, operand, .. } = *self.found;
        let start = out.len();
        match (field, self.found.depth) {
            (Field::Operand, 0) => out.extend_from_slice(name),
            (Field::Operand, _) => out.extend_from_slice(above.get(..operand).unwrap_or(above)),
            (Field::Below, 0) => {}
            (Field::Name, 0) => out.extend_from_slice(last_component(name)),
            (Field::Name, _) => out.extend_from_slice(name),
            (Field::Directory, 0) => out.extend_from_slice(directory(name)),
            (Field::Directory, _) => out.extend_from_slice(above.strip_suffix(b"/").unwrap_or(above)),
            _ => {
                path::push(above, name, out);
                if field == Field::Below {
                    let cut = out.len() - start - self.found.below(&out[start..]).len();
                    out.drain(start..start + cut);
                }
            }
        }
    }

    /// Writes a time; nothing for a birth that the file system does not keep.
    fn time(&self, which: Needs, face: Face, stamps: &mut [Stamp], out: &mut Vec<u8>) {
        let Some(time) = self.facts.time(which) else { return };
        match face {
            // Writing to memory does not fail.
            Face::Seconds => drop(write!(out, "{}.{:09}0", time.sec, time.nsec)),
            Face::Style(nth) => stamps[nth].write(time, out),
        }
    }

    /// Bytes allocated for each byte of the file.
    fn sparseness(&self) -> f64 {
        match (self.facts.size, self.facts.allocated) {
            (0, 0) => 1.0,
            (size, allocated) => allocated as f64 / size as f64,
        }
    }

    /// The type of the file that a link leads to. If there is none, one more `statx` tells why. A scan does not have it.
    fn target_letter(&self) -> u8 {
        let Origin::Live(place, entry) = self.found.origin else {
            return if self.found.kind == Kind::Link { b'?' } else { letter(self.found.kind) };
        };
        match entry.target() {
            Target::Mode(mode) => letter(Kind::from_mode(mode)),
            Target::Unasked if entry.kind() != Kind::Link => letter(entry.kind()),
            Target::Unasked | Target::Missing => {
                let dir = place.dir.ok_or(Errno::BADF);
                match dir.and_then(|dir| stat::statx(dir, entry.c_name(), Flags::NO_AUTOMOUNT, Mask::TYPE)) {
                    Ok(statx) => letter(Kind::from_mode(statx.mode() as u16)),
                    Err(Errno::NOENT | Errno::NOTDIR) => b'N',
                    Err(Errno::LOOP) => b'L',
                    Err(_) => b'?',
                }
            }
        }
    }
}

fn decimal(number: u64, out: &mut Vec<u8>) {
    // Into memory, which takes everything.
    let _ = write!(out, "{number}");
}

fn named(name: Option<&[u8]>, id: u32, out: &mut Vec<u8>) {
    match name {
        Some(name) => out.extend_from_slice(name),
        None => decimal(id.into(), out),
    }
}

/// Where the last component of an operand begins; 0 also if it has none.
fn base(path: &[u8]) -> usize {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)
}

/// The last component of an operand, with one slash if any come after it.
fn last_component(path: &[u8]) -> &[u8] {
    let name = &path[base(path)..];
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    &name[..name.len().min(end + 1)]
}

/// The path up to the last component.
fn directory(path: &[u8]) -> &[u8] {
    match base(path) {
        0 => path.iter().rposition(|byte| *byte == b'/').map_or(b".", |slash| &path[..slash]),
        start => &path[..start - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `find -maxdepth 0 -printf '%f %h'` has them.
    #[test]
    fn operands_are_cut_as_find_does() {
        let parts = |path: &'static str| {
            let part = |bytes: &'static [u8]| std::str::from_utf8(bytes).expect("ASCII");
            (part(last_component(path.as_bytes())), part(directory(path.as_bytes())))
        };
        for (path, name, above) in [
            ("d", "d", "."),
            ("d/", "d/", "d"),
            ("d//", "d/", "d/"),
            ("d/e", "e", "d"),
            ("d/e/", "e/", "d"),
            ("/", "/", ""),
            ("//", "/", "/"),
            ("/bin", "bin", ""),
            (".", ".", "."),
        ] {
            assert_eq!(parts(path), (name, above), "{path}");
        }
    }
}
