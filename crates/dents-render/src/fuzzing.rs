//! Fuzz targets; see `dents-fuzz`.

use crate::color::{Facts, Key};
use crate::time::Zone;
use crate::{Colors, Icons};
use dents_core::needs::Kind;

/// A value of `LS_COLORS`: no text gets longer when it is unescaped, and names that are in the value have the colours
/// of their suffixes.
pub fn ls_colors(bytes: &[u8]) {
    let most = bytes.len();
    let Ok(colors) = Colors::parse(bytes) else { return };
    let builtin = Colors::builtin();
    for key in [Key::Left, Key::Right, Key::End, Key::Reset, Key::Dir, Key::Link, Key::Exec, Key::ClearToEol]
    {
        let value = colors.get(key);
        assert!(value == builtin.get(key) || value.is_some_and(|value| value.len() <= most));
    }
    let _ = (colors.needs(true, true), colors.checks_targets(true));
    for name in bytes.split(|byte| b":=*".contains(byte)).take(64) {
        for kind in [Kind::Reg, Kind::Dir, Kind::Link, Kind::Unknown] {
            let facts = Facts { mode: Some(0o104_755), hard_linked: true, capability: true, target: None };
            let _ = colors.entry(name, kind, true, &facts);
            let plain = colors.entry(name, kind, true, &Facts::default());
            assert!(plain.is_none_or(|value| value.len() <= most.max(16)));
        }
    }
}

/// A value of `DLS_ICONS`: an invalid pair is returned as it is written.
pub fn icons(bytes: &[u8]) {
    if let Err(bad) = Icons::default().add(bytes) {
        let pair = bad.pair.as_ptr_range();
        assert!(bytes.as_ptr_range().start <= pair.start && pair.end <= bytes.as_ptr_range().end);
    }
}

/// A file of the tz database, and a value of `TZ`: every zone has an offset at any time.
pub fn zone(bytes: &[u8]) {
    for zone in [Zone::tzif(bytes), Some(Zone::posix(bytes))].into_iter().flatten() {
        for second in [i64::MIN, -1 << 40, 0, 1_700_000_000, 1 << 40, i64::MAX] {
            let _ = zone.at(second);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    fn corpus(texts: &[&[u8]]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.to_vec()).collect()
    }

    #[test]
    fn ls_colors() {
        let texts: [&[u8]; 3] = [
            b"rs=0:di=01;34:ln=target:mh=00:pi=40;33:or=40;31;01:ex=01;32:*.tar=01;31:*.TAR=1:*README=4:*=7:ec=:",
            b"lc=\\e[:rc=m:cl=\\033[K:no=^[:*\\x2egz=\\_^?:*.b\\=c=\\a\\b\\f:su=\\777",
            b"*.aaaaaaaa=1:*.baaaaaaaa=2:*a=3:di=0:ex=00",
        ];
        dents_fuzz::check("ls_colors", &corpus(&texts), super::ls_colors);
    }

    #[test]
    fn icons() {
        let text = "*.rs=e7a8:README*=f02d:src/=f07c:di=\u{1f4c1}:*.c=U+e61e:a\\:b=xy:ln=:ma*ke=x";
        dents_fuzz::check("icons", &corpus(&[text.as_bytes()]), super::icons);
    }

    #[test]
    fn zone() {
        // A file of version 2 with one change of time, and rules for what comes after.
        let block = |wide: bool| {
            let mut bytes = b"TZif2".to_vec();
            bytes.resize(20, 0);
            for count in [0_u32, 0, 0, 1, 2, 9] {
                bytes.extend(count.to_be_bytes());
            }
            match wide {
                true => bytes.extend(1_000_000_000_i64.to_be_bytes()),
                false => bytes.extend(1_000_000_000_i32.to_be_bytes()),
            }
            bytes.extend(b"\x01\0\0\x0e\x10\0\0\0\0\x1c\x20\x01\x04CET\0CEST\0");
            bytes
        };
        let file = [&block(false)[..], &block(true), b"\nCET-1CEST,M3.5.0,M10.5.0/3\n"].concat();
        assert!(crate::Zone::tzif(&file).is_some());
        let texts: [&[u8]; 3] =
            [&file, b"CET-1CEST,M3.5.0,M10.5.0/3", b"<+0330>-3:30:15<+0430>,J60/2,300/-167:30"];
        dents_fuzz::check("zone", &corpus(&texts), super::zone);
    }
}
