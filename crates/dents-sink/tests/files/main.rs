//! What is written, where it appears, and what is read again. One program, because each is linked with all of SQLite and Parquet.

mod columns;
mod common;
mod extent;
mod guide;
mod index;
mod order;
mod outputs;
mod round_trip;
mod shards;
mod wanted;
