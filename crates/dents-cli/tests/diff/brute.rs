//! The differences of two scans (NDJSON), by brute force. `brute.py` is the same in Python.

use crate::tools::text;
use dents_render::record::text::{exact, from_base64};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A root, and a path that begins with the root. An only root is empty.
type Spot = (Vec<u8>, Vec<u8>);
type Rows = BTreeMap<Spot, Value>;

struct Scan {
    rows: Rows,
    unread: BTreeSet<Spot>,
    roots: BTreeSet<Vec<u8>>,
}

fn bytes(row: &Value, field: &str) -> Option<Vec<u8>> {
    let encoded = row[&format!("{field}_bytes")].as_str();
    match encoded {
        Some(encoded) => from_base64(encoded.as_bytes()),
        None => row[field].as_str().map(|text| text.as_bytes().to_vec()),
    }
}

fn trim(root: &[u8]) -> Vec<u8> {
    let mut root = root.to_vec();
    while root.len() > 1 && root.ends_with(b"/") {
        root.pop();
    }
    root
}

/// The root of a row, and the path below it.
fn place(row: &Value) -> Spot {
    let (path, depth) = (bytes(row, "path").unwrap(), row["depth"].as_u64().unwrap() as usize);
    if depth == 0 {
        return (trim(&path), Vec::new());
    }
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let (root, below) = parts.split_at(parts.len() - depth);
    let root = trim(&root.join(&b'/'));
    (if root.is_empty() { b"/".to_vec() } else { root }, below.join(&b'/'))
}

fn read(file: &Path) -> Scan {
    let mut scan = Scan { rows: Rows::new(), unread: BTreeSet::new(), roots: BTreeSet::new() };
    for line in std::fs::read(file).unwrap().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut row: Value = serde_json::from_slice(line).unwrap_or_else(|_| panic!("{}", text(line)));
        if row.get("scan").is_some() {
            continue;
        }
        let place = place(&row);
        scan.roots.insert(place.0.clone());
        let asked = row["asked"].as_str();
        if matches!(asked, Some("stat" | "open" | "read" | "loop")) {
            scan.unread.insert(place.clone());
        }
        if matches!(asked, Some("open" | "read" | "loop")) {
            continue;
        }
        for time in ["mtime", "btime"] {
            // To microseconds.
            let cut = row[time].as_str().map(|time| time[..time.len() - 4].to_owned());
            row[time] = json!(cut);
        }
        scan.rows.entry(place).or_insert(row);
    }
    scan
}

fn order(path: &[u8]) -> Vec<u8> {
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

fn is_directory(row: &Value) -> bool {
    row["type"] == "directory"
}

fn is_linked(row: &Value) -> bool {
    !is_directory(row) && row["nlink"].as_u64().is_some_and(|links| links > 1)
}

fn has_length(row: &Value) -> bool {
    row["type"] == "file" || row["type"] == "link"
}

fn file_of(row: &Value) -> [u64; 2] {
    ["dev", "ino"].map(|field| row[field].as_u64().unwrap())
}

fn changes(a: &Value, b: &Value) -> Vec<&'static str> {
    if a["type"] != b["type"] {
        return vec!["type"];
    }
    let (is_directory, is_here) = (is_directory(a), a["dev"] == b["dev"]);
    let differs = |field: &str| a[field] != b[field];
    let known = |field: &str| !a[field].is_null() && !b[field].is_null();
    let mode = |row: &Value| row["mode"].as_u64().unwrap() & 0o7777;
    let (target, other) = (bytes(a, "target"), bytes(b, "target"));
    let tests = [
        ("size", has_length(a) && differs("size")),
        ("allocated", is_here && !is_directory && differs("allocated")),
        ("mtime", !is_directory && differs("mtime")),
        ("mode", mode(a) != mode(b)),
        ("uid", differs("uid")),
        ("gid", differs("gid")),
        ("target", target.is_some() && other.is_some() && target != other),
        ("ino", is_here && !is_directory && (differs("ino") || (known("btime") && differs("btime")))),
    ];
    tests.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

fn is_same_file(a: &Value, b: &Value) -> bool {
    let born = match (a["btime"].as_str(), b["btime"].as_str()) {
        (Some(a), Some(b)) => a == b,
        _ => a["size"] == b["size"] && a["mtime"] == b["mtime"],
    };
    a["type"] == b["type"] && file_of(a) == file_of(b) && born
}

/// The rank of a name of a file: whether only one scan has it, the key of its path, the path.
type Rank = (bool, Vec<u8>, Spot);

/// The names under which files with several links count.
fn counted(mine: &Rows, other: &Rows) -> BTreeSet<Spot> {
    let mut files: BTreeMap<[u64; 2], BTreeSet<Rank>> = BTreeMap::new();
    for (at, row) in mine.iter().filter(|(_, row)| is_linked(row)) {
        let is_both = other.get(at).is_some_and(|twin| {
            !twin["ino"].is_null() && file_of(twin) == file_of(row) && twin["type"] == row["type"]
        });
        files.entry(file_of(row)).or_default().insert((!is_both, order(&at.1), at.clone()));
    }
    files.into_values().filter_map(|names| names.into_iter().next()).map(|(_, _, at)| at).collect()
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Sum([i128; 3]);

impl Sum {
    fn add(&mut self, sign: i128, size: [i128; 2]) {
        self.0[0] += sign * size[0];
        self.0[1] += sign * size[1];
        self.0[2] += sign;
    }

    fn json(self, mut object: Map<String, Value>) -> Value {
        for (field, number) in ["bytes", "allocated", "entries"].into_iter().zip(self.0) {
            object.insert(field.to_owned(), json!(number as i64));
        }
        Value::Object(object)
    }
}

fn name(field: &str, path: &[u8], object: &mut Map<String, Value>) {
    let path = if path.is_empty() { b"." } else { path };
    match exact(path) {
        (Some(text), _) => object.insert(field.to_owned(), json!(text)),
        (None, encoded) => object.insert(format!("{field}_bytes"), json!(encoded)),
    };
}

/// The rows of both scans that can be compared.
struct Sides {
    rows: [Rows; 2],
    unknown: u64,
}

fn sides(old: Scan, new: Scan) -> Sides {
    let single = old.roots.len() <= 1 && new.roots.len() <= 1;
    let whole = |(root, below): Spot| match (single, below.is_empty()) {
        (true, _) => (Vec::new(), below),
        (_, true) => (root.clone(), root),
        _ if root.ends_with(b"/") => (root.clone(), [root, below].concat()),
        _ => (root.clone(), [&root[..], b"/", &below].concat()),
    };
    let unread: BTreeSet<Spot> = old.unread.into_iter().chain(new.unread).map(whole).collect();
    let mut rows = [old.rows, new.rows]
        .map(|rows| -> Rows { rows.into_iter().map(|(at, row)| (whole(at), row)).collect() });
    let is_below_unread = |(root, path): &Spot| {
        let ends = (0..path.len()).filter(|end| *end == root.len() || path[*end] == b'/');
        ends.filter(|end| *end >= root.len())
            .any(|end| unread.contains(&(root.clone(), path[..end].to_vec())))
    };
    let all: BTreeSet<Spot> = rows.iter().flat_map(|rows| rows.keys().cloned()).collect();
    let mut unknown = 0;
    for at in all {
        let both = [rows[0].get(&at), rows[1].get(&at)];
        let is_unknown =
            both.iter().all(Option::is_some) && both.iter().flatten().any(|row| row["ino"].is_null());
        if is_unknown || is_below_unread(&at) {
            unknown += 1;
            rows.iter_mut().for_each(|rows| drop(rows.remove(&at)));
        }
    }
    Sides { rows, unknown }
}

/// Sums by depth and path.
type Directories = BTreeMap<(usize, Vec<u8>), Sum>;

/// The result.
struct Brute {
    rows: [Rows; 2],
    names: [BTreeSet<Spot>; 2],
    lists: BTreeMap<&'static str, Vec<(Vec<u8>, Value)>>,
}

impl Brute {
    fn taken(&self, side: usize, at: Option<&Spot>) -> [i128; 2] {
        let Some((at, row)) = at.and_then(|at| Some((at, self.rows[side].get(at)?))) else { return [0; 2] };
        if row["ino"].is_null() || (is_linked(row) && !self.names[side].contains(at)) {
            return [0; 2];
        }
        let number = |field: &str| i128::from(row[field].as_u64().unwrap());
        [if has_length(row) { number("size") } else { 0 }, number("allocated")]
    }

    fn note(&mut self, list: &'static str, from: Option<&Spot>, to: Option<&Spot>) {
        let [a, b] = [from.map(|at| self.rows[0][at].clone()), to.map(|at| self.rows[1][at].clone())];
        let [before, after] = [self.taken(0, from), self.taken(1, to)];
        let size =
            |row: &Option<Value>| row.as_ref().filter(|row| has_length(row)).map(|row| row["size"].clone());
        let changes = a.as_ref().zip(b.as_ref()).map(|(a, b)| changes(a, b)).unwrap_or_default();
        let mut object = Map::new();
        let mut put = |field: &str, value: Value| drop(object.insert(field.to_owned(), value));
        put("type", b.as_ref().or(a.as_ref()).unwrap()["type"].clone());
        put("old_size", json!(size(&a)));
        put("new_size", json!(size(&b)));
        put("old_path", Value::Null);
        put("bytes", json!((after[0] - before[0]) as i64));
        put("allocated", json!((after[1] - before[1]) as i64));
        put("changes", json!(changes));
        let path = &to.or(from).unwrap().1;
        name("path", path, &mut object);
        if list == "moved" {
            name("old_path", &from.unwrap().1, &mut object);
        }
        self.lists.entry(list).or_default().push((order(path), Value::Object(object)));
    }

    fn find(&mut self) {
        let all: BTreeSet<Spot> = self.rows.iter().flat_map(|rows| rows.keys().cloned()).collect();
        let mut files: BTreeMap<[u64; 2], [Vec<Spot>; 2]> = BTreeMap::new();
        for at in all {
            let rows = [0, 1].map(|side| self.rows[side].get(&at));
            match rows {
                [Some(a), Some(b)] if changes(a, b).is_empty() => {}
                [Some(_), Some(_)] => self.note("changed", Some(&at), Some(&at)),
                [Some(row), None] if row["ino"].is_null() => self.note("deleted", Some(&at), None),
                [None, Some(row)] if row["ino"].is_null() => self.note("new", None, Some(&at)),
                [old, new] => {
                    let file = file_of(old.or(new).unwrap());
                    files.entry(file).or_default()[usize::from(old.is_none())].push(at);
                }
            }
        }
        for mut names in files.into_values() {
            names
                .iter_mut()
                .for_each(|side| side.sort_by(|a, b| order(&a.1).cmp(&order(&b.1)).then(Ordering::Equal)));
            for nth in 0..names[0].len().max(names[1].len()) {
                let (from, to) = (names[0].get(nth), names[1].get(nth));
                let is_same =
                    from.zip(to).is_some_and(|(a, b)| is_same_file(&self.rows[0][a], &self.rows[1][b]));
                if is_same {
                    self.note("moved", from, to);
                    continue;
                }
                from.into_iter().for_each(|from| self.note("deleted", Some(from), None));
                to.into_iter().for_each(|to| self.note("new", None, Some(to)));
            }
        }
    }

    /// Total, users, directories.
    fn sums(&self, depth: usize) -> (Sum, BTreeMap<u64, Sum>, Directories) {
        let (mut total, mut users, mut directories) = (Sum::default(), BTreeMap::new(), BTreeMap::new());
        for (side, sign) in [(0, -1), (1, 1)] {
            for (at, row) in &self.rows[side] {
                let size = self.taken(side, Some(at));
                total.add(sign, size);
                if let Some(uid) = row["uid"].as_u64() {
                    users.entry(uid).or_insert_with(Sum::default).add(sign, size);
                }
                let (root, path) = at;
                let is_below = path.len() > root.len();
                let begin = root.len() + usize::from(is_below && path[root.len()] == b'/');
                let slashes = (begin..path.len()).filter(|end| path[*end] == b'/');
                let own = is_directory(row).then_some(path.len());
                let ends = if is_below {
                    std::iter::once(root.len()).chain(slashes).chain(own).collect()
                } else {
                    own.into_iter().collect::<Vec<usize>>()
                };
                for (level, end) in ends.into_iter().enumerate().take(depth + 1) {
                    let key = (level, path[..end].to_vec());
                    directories.entry(key).or_insert_with(Sum::default).add(sign, size);
                }
            }
        }
        (total, users, directories)
    }
}

/// The expected output of `diff --json`, without its head and the names of users; directories and users in the order of [`canonical`].
pub(crate) fn expected(depth: usize, old: &Path, new: &Path) -> Value {
    let Sides { rows, unknown } = sides(read(old), read(new));
    let names = [counted(&rows[0], &rows[1]), counted(&rows[1], &rows[0])];
    let mut brute = Brute { rows, names, lists: BTreeMap::new() };
    brute.find();
    let (total, users, directories) = brute.sums(depth);
    let mut object = Map::new();
    let mut summary = Map::new();
    for list in ["new", "deleted", "changed", "moved"] {
        let mut entries = brute.lists.remove(list).unwrap_or_default();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        let entries: Vec<Value> = entries.into_iter().map(|(_, entry)| entry).collect();
        let sum = |field: &str| entries.iter().map(|entry| i128::from(entry[field].as_i64().unwrap())).sum();
        let sum = Sum([sum("bytes"), sum("allocated"), entries.len() as i128]);
        summary.insert(list.to_owned(), sum.json(Map::new()));
        object.insert(list.to_owned(), json!(entries));
    }
    object.insert("summary".to_owned(), Value::Object(summary));
    object.insert("total".to_owned(), total.json(Map::new()));
    object.insert("unknown".to_owned(), json!(unknown));
    let is_one = |sum: &Sum| *sum != Sum::default();
    let directory = |((level, path), sum): ((usize, Vec<u8>), Sum)| {
        let mut object = Map::new();
        object.insert("depth".to_owned(), json!(level));
        name("path", &path, &mut object);
        sum.json(object)
    };
    let rows = directories.into_iter().filter(|(_, sum)| is_one(sum)).map(directory);
    object.insert("directories".to_owned(), rows.collect());
    let user = |(id, sum): (u64, Sum)| sum.json(Map::from_iter([("id".to_owned(), json!(id))]));
    let rows = users.into_iter().filter(|(_, sum)| is_one(sum)).map(user);
    object.insert("users".to_owned(), rows.collect());
    canonical(Value::Object(object))
}

/// The object without its head and the names of users. Rows that were ordered by growth are sorted again, so that the order of equal rows does
/// not matter.
pub(crate) fn canonical(mut object: Value) -> Value {
    for field in ["dents", "schema", "complete", "errors"] {
        object.as_object_mut().unwrap().remove(field);
    }
    for user in object["users"].as_array_mut().unwrap() {
        user.as_object_mut().unwrap().retain(|field, _| !field.starts_with("name"));
    }
    for list in ["new", "deleted", "changed", "moved"] {
        for entry in object[list].as_array_mut().unwrap() {
            if entry.get("old_path_bytes").is_some() {
                entry["old_path"] = Value::Null;
            }
        }
    }
    for table in ["directories", "users"] {
        object[table].as_array_mut().unwrap().sort_by_cached_key(Value::to_string);
    }
    object
}
