//! What a row of a scan file may be. A file may be damaged or forged, and its paths are often the input of another program: `rm` must not
//! get `../../etc/passwd` from it. All readers check every row that they pass on by [`Limits`].
//!
//! A name is one of a directory: not empty, not `.` or `..`, without `/` and NUL, of at most [`Limits::NAME`] bytes. A root has the name
//! that the user gave it, which may be any path. A row at depth `d` is `d` names below its root. So depths need no limit of their own, and
//! no file makes the program work or allocate more than in proportion to its paths.

use super::Columns;
use crate::bytes::in_common;
use crate::row::Row;
use dents_core::path::separator;

/// Checks the rows of a file, one after the other. Keeps the path of the last directory, so that the next one costs only the names in which
/// it differs.
pub(crate) struct Limits {
    /// The columns that rows have; the others are not checked.
    columns: Columns,
    /// The path of the last directory, which was valid.
    parent: Vec<u8>,
    /// The ends of the paths of its root and of all directories down to it.
    ends: Vec<usize>,
}

const NO_NAME: &str = "no name of a file";
const NOT_BELOW: &str = "a row is not below its root";

impl Limits {
    /// Bytes of a name. The kernel takes no longer path at once, and file systems have at most 255 characters.
    pub(crate) const NAME: usize = 4095;
    /// Bytes of a path: one that is longer than the kernel takes can be made step by step.
    pub(crate) const PATH: usize = 16 << 20;
    /// Bytes of a row: its path twice, where each byte may take six.
    pub(crate) const ROW: usize = 256 << 20;

    pub(crate) fn new(columns: Columns) -> Limits {
        Limits { columns, parent: Vec::new(), ends: Vec::new() }
    }

    /// Checks a row.
    ///
    /// # Errors
    /// The problem.
    pub(crate) fn check(&mut self, row: &Row<'_>) -> Result<(), String> {
        let has = |column| self.columns.contains(column);
        let (parent, name) =
            (has(Columns::PARENT).then_some(row.parent), has(Columns::NAME).then_some(row.name));
        if parent.map_or(0, <[u8]>::len) + name.map_or(0, <[u8]>::len) >= Limits::PATH {
            return Err("a path is longer than 16 MiB".to_owned());
        }
        if row.depth > 0 {
            parent.map_or(Ok(()), |parent| self.directory(parent, row.depth as usize))?;
            return name.map_or(Ok(()), check_name);
        }
        if parent.is_some_and(|parent| !parent.is_empty()) {
            return Err("a root has a directory".to_owned());
        }
        if name.is_some_and(|name| name.contains(&0)) { Err("a NUL in a path".to_owned()) } else { Ok(()) }
    }

    /// Checks the path of a directory whose entries have this depth.
    fn directory(&mut self, path: &[u8], depth: usize) -> Result<(), String> {
        if depth == self.ends.len() && path == self.parent {
            return Ok(());
        }
        let common = in_common(&self.parent, path);
        let known = self.known(path, common);
        if known == 0 || !self.downwards(path, known, depth)? {
            self.upwards(path, depth)?;
        }
        self.parent.truncate(common);
        self.parent.extend_from_slice(&path[common..]);
        Ok(())
    }

    /// The number of directories, from the root on, that this path has in common with the last one.
    fn known(&self, path: &[u8], common: usize) -> usize {
        let known = self.ends.partition_point(|end| *end < common);
        let is_border = |end: usize| path.len() == end || path[end..].starts_with(separator(&path[..end]));
        known + usize::from(self.ends.get(known).is_some_and(|end| *end == common && is_border(*end)))
    }

    /// Checks the names below the directories that are known. Returns whether the depth is right: if it is not, the root is another.
    fn downwards(&mut self, path: &[u8], known: usize, depth: usize) -> Result<bool, String> {
        self.ends.truncate(known);
        let mut end = self.ends[known - 1];
        while end < path.len() {
            let start = end + separator(&path[..end]).len();
            end =
                path[start..].iter().position(|byte| *byte == b'/').map_or(path.len(), |slash| start + slash);
            if self.ends.len() >= depth {
                return Ok(false);
            }
            check_name(&path[start..end])?;
            self.ends.push(end);
        }
        Ok(self.ends.len() == depth)
    }

    /// Checks all names, from the last one to that below the root.
    fn upwards(&mut self, path: &[u8], depth: usize) -> Result<(), String> {
        self.ends.clear();
        let mut end = path.len();
        self.ends.push(end);
        for _ in 1..depth {
            let slash = path[..end].iter().rposition(|byte| *byte == b'/').ok_or(NOT_BELOW)?;
            check_name(&path[slash + 1..end])?;
            // The slash of the root `/` belongs to its name.
            end = slash.max(1);
            self.ends.push(end);
        }
        self.ends.reverse();
        match path[..end].contains(&0) {
            _ if end == 0 => Err(NOT_BELOW.to_owned()),
            true => Err("a NUL in a path".to_owned()),
            false => Ok(()),
        }
    }
}

/// Refuses names that no directory has.
fn check_name(name: &[u8]) -> Result<(), String> {
    let is_name = !matches!(name, b"" | b"." | b"..")
        && name.len() <= Limits::NAME
        && !name.contains(&b'/')
        && !name.contains(&0);
    let shown = || name[..name.len().min(64)].escape_ascii();
    if is_name { Ok(()) } else { Err(format!("{NO_NAME}: '{}'", shown())) }
}
