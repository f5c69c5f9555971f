//! The fields of a line of NDJSON. Those of facts and details have the types that their tables say.

use crate::details::{Detail, Draft, Value};
use crate::row::Row;
use crate::time;
use crate::words::{self, Problem};
use dents_core::batch::Time;
use dents_core::facts::{Access, Cell, Columns, FACTS, Facts};
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
    details: [Option<Given<'a>>; Detail::ALL.len()],
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
        for (detail, given) in Detail::ALL.iter().zip(&self.details) {
            let value = match given {
                Some(Given::Number(number)) => u32::try_from(*number).ok().map(Value::Number),
                Some(Given::Text(text)) => str::from_utf8(text).ok().map(Value::Text),
                _ => None,
            };
            details.push(*detail, value);
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

/// Bytes: a text, or base64 in the field whose name ends with `_bytes`.
struct Bytes<'a, const BASE64: bool>(Option<Text<'a>>);

impl<'de: 'a, 'a, const BASE64: bool> Deserialize<'de> for Bytes<'a, BASE64> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Borrowed<'t>(#[serde(borrow)] Option<Cow<'t, str>>);
        let Borrowed(text) = Borrowed::deserialize(deserializer)?;
        Ok(Bytes(match text {
            Some(text) if BASE64 => Some(Cow::Owned(
                from_base64(text.as_bytes())
                    .ok_or_else(|| D::Error::custom("what should be base64 is not"))?,
            )),
            Some(Cow::Borrowed(text)) => Some(Cow::Borrowed(text.as_bytes())),
            Some(Cow::Owned(text)) => Some(Cow::Owned(text.into_bytes())),
            None => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Line<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a row of a scan")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Line<'de>, M::Error> {
        let (mut line, mut seen, mut next) = (Line::default(), 0_u64, 0);
        while let Some(key) = map.next_key::<Bytes<'de, false>>()? {
            let Some(place) = place(key.0.as_deref().unwrap_or_default(), next) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if seen >> place & 1 == 1 {
                return Err(M::Error::custom(format_args!("duplicate field `{}`", NAMES[place].0)));
            }
            (seen, next) = (seen | 1 << place, place + 1);
            line.take(NAMES[place].1, &mut map)?;
        }
        let missing = NAMES
            .iter()
            .enumerate()
            .find(|(place, (_, field))| field.is_required() && seen >> place & 1 == 0);
        missing
            .map_or(Ok(line), |(_, (name, _))| Err(M::Error::custom(format_args!("missing field `{name}`"))))
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
    assert!(names.len() <= u64::BITS as usize, "a bit for each");
    names
});

/// The place of a name. A line that this crate wrote has the names in their order, so the search begins at the next one.
fn place(name: &[u8], next: usize) -> Option<usize> {
    (next..NAMES.len()).chain(0..next.min(NAMES.len())).find(|place| NAMES[*place].0.as_bytes() == name)
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
            Field::Detail(index) if Detail::ALL[index].is_number() => {
                self.details[index] =
                    map.next_value::<Option<u32>>()?.map(|number| Given::Number(number.into()));
            }
            Field::Detail(index) => self.details[index] = text(map, false)?.map(Given::Text),
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
