//! Files that are written, their names, and reading them again. The tests are one program, because each program is linked with all of SQLite
//! and Parquet.

mod columns;
mod common;
mod databases;
mod extent;
mod guide;
mod index;
mod limits;
mod mutants;
mod order;
mod outputs;
mod round_trip;
mod shards;
mod wanted;
