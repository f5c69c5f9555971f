//! The table of a report.

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, TimestampNanosecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use dents_commands::{Records, Type, Values};
use dents_sink::time::Unit;
use std::sync::Arc;

/// Numbers have 64 bits; a sum that needs more becomes the nearest such number. A name that is not UTF-8 is null. A second column, whose name ends
/// in `_bytes`, has the bytes of all names.
pub(crate) fn batch(records: Records) -> RecordBatch {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    let mut push = |name: String, array: ArrayRef| {
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    };
    for (name, kind, values) in records.columns {
        match values {
            Values::Numbers(numbers) => {
                let nearest = |number: i128| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                let numbers = numbers.into_iter().map(|number| number.map(nearest));
                push(name.to_owned(), Arc::new(numbers.collect::<Int64Array>()));
            }
            Values::Times(times) => {
                let times = times.into_iter().map(|time| time.map(|time| Unit::Nanos.count(time).0));
                let times = times.collect::<TimestampNanosecondArray>().with_timezone(UTC);
                push(name.to_owned(), Arc::new(times));
            }
            Values::Texts(texts) => {
                let mut text = StringBuilder::new();
                for one in &texts {
                    text.append_option(one.as_deref().and_then(|one| std::str::from_utf8(one).ok()));
                }
                push(name.to_owned(), Arc::new(text.finish()));
                if kind == Type::Text {
                    push(format!("{name}_bytes"), Arc::new(BinaryArray::from_iter(texts)));
                }
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("the columns are equally long")
}

/// The time zone of all times.
pub(crate) const UTC: &str = "UTC";

/// The type of all times.
pub(crate) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}
