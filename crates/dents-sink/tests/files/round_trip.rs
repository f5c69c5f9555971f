//! Rows that are written are read again, byte for byte, in every format.

use crate::common::{Playground, Rng, as_written, read, write};
use dents_sink::{Format, read::open};
use std::io;

#[test]
fn hostile_rows_come_back_as_they_were() {
    for seed in 0..12 {
        let rows = Rng(seed).rows(1 + seed as usize * 331);
        for format in Format::ALL {
            let ground = Playground::new();
            let path = ground.file(*format);
            write(&path, *format, &rows, 1).expect("written");
            assert_eq!(open(&path).expect("opened").format(), *format);
            let back = read(&path).expect("read");
            assert_eq!(back.len(), rows.len(), "{format:?}, seed {seed}");
            for (back, row) in back.iter().zip(&as_written(*format, rows.clone())) {
                assert_eq!(back, row, "{format:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn no_row_of_any_part_is_lost() {
    let mut rows = Rng(7).rows(5000);
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    for format in Format::ALL {
        let ground = Playground::new();
        write(&ground.file(*format), *format, &rows, 7).expect("written");
        let mut back = read(&ground.file(*format)).expect("read");
        back.sort_by_cached_key(|row| format!("{row:?}"));
        assert!(back == rows, "{format:?}");
    }
}

#[test]
fn a_scan_of_nothing_is_a_file_of_nothing() {
    for format in Format::ALL {
        let ground = Playground::new();
        write(&ground.file(*format), *format, &[], 1).expect("written");
        assert_eq!(read(&ground.file(*format)).expect("read"), []);
    }
}

#[test]
fn who_receives_rows_can_end_it() {
    let rows = Rng(3).rows(3000);
    for format in Format::ALL {
        let ground = Playground::new();
        write(&ground.file(*format), *format, &rows, 1).expect("written");
        let mut seen = 0;
        let ended = open(&ground.file(*format)).expect("opened").for_each(&mut |_| {
            seen += 1;
            if seen == 1500 { Err(io::Error::from(io::ErrorKind::BrokenPipe)) } else { Ok(()) }
        });
        let kind = ended.map_err(|error| error.kind());
        assert_eq!((seen, kind), (1500, Err(io::ErrorKind::BrokenPipe)));
    }
}
