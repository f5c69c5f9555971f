//! The fields of a line of NDJSON. Those of facts and details have the types that their tables say.

use crate::details::{Detail, Draft, Value};
use crate::row::Row;
use crate::time;
use crate::words::{self, Problem};
use dents_core::batch::Time;
use dents_core::facts::{Access, Cell, Columns, FACTS, Facts, Type};
use dents_core::needs::Kind;
use dents_render::record::text::from_base64;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// A line. Texts without escapes are borrowed. `path` follows from parent and name, so it is not read.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) v: u64,
    depth: u32,
    kind: Text<'a>,
    parent: Option<Text<'a>>,
    name: Option<Text<'a>>,
    target: Option<Text<'a>>,
    asked: Option<Text<'a>>,
    errno: Option<i32>,
    facts: [Option<Given<'a>>; FACTS.len()],
    /// The details of the line, each with its place among all.
    details: Vec<(usize, Given<'a>)>,
}

type Text<'a> = Cow<'a, [u8]>;

/// A value.
enum Given<'a> {
    Number(u64),
    Time(Time),
    Text(Text<'a>),
    Flag(bool),
}

impl Given<'_> {
    fn cell(&self) -> Cell<'_> {
        match self {
            Given::Number(number) => Cell::Number(*number),
            Given::Time(at) => Cell::Time(*at),
            Given::Text(text) => Cell::Text(text),
            Given::Flag(flag) => Cell::Flag(*flag),
        }
    }
}

impl Line<'_> {
    /// The row. Its details are in `details`.
    pub(super) fn row<'r>(&'r self, details: &'r mut Draft) -> Result<Row<'r>, Problem> {
        let kind = words::kind(&self.kind)?;
        for (place, given) in &self.details {
            let value = match given {
                Given::Number(number) => Some(Value::Number(*number)),
                Given::Text(text) => str::from_utf8(text).ok().map(Value::Text),
                _ => None,
            };
            details.push(Detail::ALL[*place], value);
        }
        Ok(Row {
            parent: self.parent.as_deref().ok_or("no \"parent\"")?,
            name: self.name.as_deref().ok_or("no \"name\"")?,
            depth: self.depth,
            kind,
            facts: self.facts(kind)?,
            target: self.target.as_deref(),
            details: details.details(),
            fault: words::fault(self.asked.as_deref(), self.errno)?,
        })
    }

    /// The facts; `None` for a row without `lazy`, the last of them.
    fn facts(&self, kind: Kind) -> Result<Option<Facts<'_>>, Problem> {
        if let [.., None] = self.facts {
            return Ok(None);
        }
        let mut facts = Facts::neutral(kind);
        for (fact, given) in FACTS.iter().zip(&self.facts) {
            let cell = given.as_ref().map(Given::cell);
            fact.take(&mut facts, cell).ok_or("a fact is missing or no value")?;
        }
        Ok(Some(facts))
    }
}

/// Bytes, or null: a text, or base64 in the field whose name ends with `_bytes`. (serde allocates each `Option<Cow<str>>`, also a borrowed one.)
struct Bytes<'a, const BASE64: bool>(Option<Text<'a>>);

impl<'de, const BASE64: bool> Deserialize<'de> for Bytes<'de, BASE64> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(AsBytes::<BASE64>).map(Bytes)
    }
}

/// The name of a field.
struct Key<'a>(Text<'a>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Key(deserializer.deserialize_str(AsBytes::<false>)?.unwrap_or_default()))
    }
}

struct AsBytes<const BASE64: bool>;

impl<'de, const BASE64: bool> Visitor<'de> for AsBytes<BASE64> {
    type Value = Option<Text<'de>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        if BASE64 { self.visit_str(text) } else { Ok(Some(Cow::Borrowed(text.as_bytes()))) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let bytes = if BASE64 { from_base64(text.as_bytes()) } else { Some(text.as_bytes().to_vec()) };
        bytes.map(|bytes| Some(Cow::Owned(bytes))).ok_or_else(|| E::custom("what should be base64 is not"))
    }
}

impl<'de> Line<'de> {
    /// Takes the fields of a line. The values are written where they stay: a line has 900 bytes.
    pub(super) fn read(&mut self, json: &'de [u8]) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_slice(json);
        json.deserialize_map(Fields(self))?;
        json.end()
    }
}

struct Fields<'l, 'a>(&'l mut Line<'a>);

impl<'de> Visitor<'de> for Fields<'_, 'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a row of a scan")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let names = &NAMES[..];
        let (mut seen, mut next) = (0_u64, 0);
        while let Some(Key(key)) = map.next_key()? {
            let Some(place) = place(names, &key, next) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if seen >> place & 1 == 1 {
                return Err(M::Error::custom(format_args!("duplicate field `{}`", names[place].0)));
            }
            (seen, next) = (seen | 1 << place, place + 1);
            self.0.take(names[place].1, &mut map)?;
        }
        let is_missing = |place: &usize| names[*place].1.is_required() && seen >> place & 1 == 0;
        match (0..=LAST_REQUIRED).find(is_missing) {
            Some(place) => Err(M::Error::custom(format_args!("missing field `{}`", names[place].0))),
            None => Ok(()),
        }
    }
}

/// A field. `true` is the one in base64.
#[derive(Clone, Copy)]
enum Field {
    Version,
    Depth,
    Kind,
    Parent(bool),
    Name(bool),
    Target(bool),
    Fact(usize, bool),
    Asked,
    Errno,
    Detail(usize),
}

impl Field {
    fn is_required(self) -> bool {
        matches!(self, Field::Version | Field::Depth | Field::Kind)
    }
}

/// The place of `type`: no field after it is required.
const LAST_REQUIRED: usize = 6;

/// The names of all fields that are read, in the order of a line.
static NAMES: LazyLock<Vec<(String, Field)>> = LazyLock::new(|| {
    let both = |name: &str, field: fn(bool) -> Field| {
        [(name.to_owned(), field(false)), (format!("{name}_bytes"), field(true))]
    };
    let mut names = vec![("v".to_owned(), Field::Version)];
    names.extend(both("parent", Field::Parent));
    names.extend(both("name", Field::Name));
    names.extend([("depth".to_owned(), Field::Depth), ("type".to_owned(), Field::Kind)]);
    for (index, fact) in FACTS.iter().enumerate() {
        if fact.column == Columns::LAZY {
            names.extend(both("target", Field::Target));
        }
        names.push((fact.word.to_owned(), Field::Fact(index, false)));
        if let Access::Text(..) = fact.access {
            names.push((format!("{}_bytes", fact.word), Field::Fact(index, true)));
        }
    }
    names.extend([("asked".to_owned(), Field::Asked), ("errno".to_owned(), Field::Errno)]);
    names.extend(
        Detail::ALL
            .iter()
            .enumerate()
            .map(|(index, detail)| (detail.name().to_owned(), Field::Detail(index))),
    );
    assert!(names.len() <= u64::BITS as usize && names[LAST_REQUIRED].1.is_required(), "a bit for each");
    names
});

/// The place of a name. A line that this crate wrote has the names in their order, without those in base64.
fn place(names: &[(String, Field)], name: &[u8], next: usize) -> Option<usize> {
    let is = |place: &usize| names.get(*place).is_some_and(|(one, _)| one.as_bytes() == name);
    [next, next + 1].into_iter().find(is).or_else(|| (0..names.len()).find(is))
}

impl<'de> Line<'de> {
    /// Takes the value of this field.
    fn take<M: MapAccess<'de>>(&mut self, field: Field, map: &mut M) -> Result<(), M::Error> {
        match field {
            Field::Version => self.v = map.next_value()?,
            Field::Depth => self.depth = map.next_value()?,
            Field::Kind => self.kind = text(map, false)?.ok_or_else(|| M::Error::custom("no \"type\""))?,
            Field::Parent(is_base64) => prefer(&mut self.parent, text(map, is_base64)?, is_base64),
            Field::Name(is_base64) => prefer(&mut self.name, text(map, is_base64)?, is_base64),
            Field::Target(is_base64) => prefer(&mut self.target, text(map, is_base64)?, is_base64),
            Field::Asked => self.asked = text(map, false)?,
            Field::Errno => self.errno = map.next_value()?,
            Field::Fact(index, is_base64) => {
                let given = given(map, FACTS[index].access, is_base64)?;
                prefer(&mut self.facts[index], given, is_base64);
            }
            Field::Detail(place) => {
                let given = match Detail::ALL[place].kind() {
                    Type::Narrow => {
                        map.next_value::<Option<u32>>()?.map(|number| Given::Number(number.into()))
                    }
                    Type::Wide => map.next_value::<Option<u64>>()?.map(Given::Number),
                    Type::Text => text(map, false)?.map(Given::Text),
                };
                // Rows have them in the order of the table.
                let at = self.details.partition_point(|(other, _)| *other < place);
                given.into_iter().for_each(|given| self.details.insert(at, (place, given)));
            }
        }
        Ok(())
    }
}

/// If a line has a value in both forms, that in base64 counts.
fn prefer<T>(kept: &mut Option<T>, value: Option<T>, is_base64: bool) {
    if value.is_some() && (is_base64 || kept.is_none()) {
        *kept = value;
    }
}

fn text<'de, M: MapAccess<'de>>(map: &mut M, is_base64: bool) -> Result<Option<Text<'de>>, M::Error> {
    match is_base64 {
        true => Ok(map.next_value::<Bytes<'de, true>>()?.0),
        false => Ok(map.next_value::<Bytes<'de, false>>()?.0),
    }
}

/// The value of a fact.
fn given<'de, M: MapAccess<'de>>(
    map: &mut M,
    access: Access,
    is_base64: bool,
) -> Result<Option<Given<'de>>, M::Error> {
    Ok(match access {
        Access::Wide(..) => map.next_value::<Option<u64>>()?.map(Given::Number),
        Access::Narrow(..) => map.next_value::<Option<u32>>()?.map(|number| Given::Number(number.into())),
        Access::Short(..) => map.next_value::<Option<u16>>()?.map(|number| Given::Number(number.into())),
        Access::Flag(..) => map.next_value::<Option<bool>>()?.map(Given::Flag),
        Access::Text(..) => text(map, is_base64)?.map(Given::Text),
        Access::Time(..) => match text(map, false)? {
            Some(text) => Some(Given::Time(time::parse(&text).ok_or_else(|| M::Error::custom("no time"))?)),
            None => None,
        },
    })
}
