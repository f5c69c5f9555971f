//! Any bytes as a directory's records: no panic, no byte read outside, names as `CStr` promises.
#![no_main]
use dents_sys::dir::Dirents;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let range = bytes.as_ptr_range();
    let mut dirents = Dirents::new(bytes);
    let mut least = 0;
    for entry in dirents.by_ref() {
        let name = entry.name.to_bytes_with_nul();
        assert!(name.len() > 1 && name.iter().position(|&byte| byte == 0) == Some(name.len() - 1));
        assert!(range.start <= name.as_ptr() && name.as_ptr_range().end <= range.end);
        least += 19 + name.len();
    }
    assert!(least <= bytes.len());
    assert_eq!(dirents.next(), None);
    assert!(dirents.malformed() || (least == 0) == bytes.is_empty());
});
