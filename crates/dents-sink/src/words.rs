//! The words and numbers that stand for types, questions and devices in all formats.

use crate::row::Asked;
use dents::needs::Kind;

const KINDS: [(Kind, &str); 9] = [
    (Kind::Unknown, "unknown"),
    (Kind::Fifo, "fifo"),
    (Kind::Char, "char"),
    (Kind::Dir, "directory"),
    (Kind::Block, "block"),
    (Kind::Reg, "file"),
    (Kind::Link, "link"),
    (Kind::Sock, "socket"),
    (Kind::Whiteout, "whiteout"),
];

const ASKED: [(Asked, &str); 5] = [
    (Asked::Stat, "stat"),
    (Asked::Link, "link"),
    (Asked::Open, "open"),
    (Asked::Read, "read"),
    (Asked::Loop, "loop"),
];

pub(crate) fn of_kind(kind: Kind) -> &'static str {
    KINDS.iter().find(|(one, _)| *one == kind).map_or("unknown", |(_, word)| word)
}

pub(crate) fn kind(word: &[u8]) -> Option<Kind> {
    KINDS.iter().find(|(_, one)| one.as_bytes() == word).map(|(kind, _)| *kind)
}

pub(crate) fn of_asked(asked: Asked) -> &'static str {
    ASKED.iter().find(|(one, _)| *one == asked).map_or("stat", |(_, word)| word)
}

pub(crate) fn asked(word: &[u8]) -> Option<Asked> {
    ASKED.iter().find(|(_, one)| one.as_bytes() == word).map(|(asked, _)| *asked)
}

/// A device as `stat(2)` numbers it (`makedev(3)` of glibc), so that it is the number that other programs show. Nothing of
/// the two halves is lost.
pub(crate) fn device((major, minor): (u32, u32)) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | (minor & 0xff)
}

/// Major and minor number again.
pub(crate) fn device_halves(device: u64) -> (u32, u32) {
    let major = (device >> 32 & 0xffff_f000) | (device >> 8 & 0xfff);
    let minor = (device >> 12 & 0xffff_ff00) | (device & 0xff);
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_back() {
        for kind_ in Kind::KNOWN.into_iter().chain([Kind::Unknown]) {
            assert_eq!(kind(of_kind(kind_).as_bytes()), Some(kind_));
        }
        for (one, _) in ASKED {
            assert_eq!(asked(of_asked(one).as_bytes()), Some(one));
        }
    }

    #[test]
    fn a_device_is_numbered_as_stat_does() {
        assert_eq!(device((8, 1)), 0x801);
        assert_eq!(device((0xfff, 0xfffff)), 0xffff_ffff);
        for halves in
            [(0, 0), (8, 1), (0, 0x2a), (0xfff, 0xfffff), (u32::MAX, u32::MAX), (0x1234_5678, 0x9abc_def0)]
        {
            assert_eq!(device_halves(device(halves)), halves);
        }
    }
}
