//! What is written, where it appears, and what is read again. One program, because each is linked with all of SQLite and Parquet.

mod common;
mod extent;
mod outputs;
mod round_trip;
