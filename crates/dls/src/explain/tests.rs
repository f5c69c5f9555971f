use super::phrase::{duration, list};
use super::*;
use alloc::format;
use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::request_counts::{Call, Calls, CallsByKind};
use dents_render::{NameStyle, PrefixStyle, Style, color::Key};
use dents_sys::statfs::FsType;
use std::string::ToString;

use crate::plan::{Claim, Claimant};

const MS: u64 = 1_000_000;

fn option(name: &str, needs: NeedsByKind) -> Claim {
    Claim { by: Claimant::Option(name.to_string()), needs }
}

fn key(key: Key, kind: Kind, needs: Needs) -> Claim {
    Claim { by: Claimant::Color(key), needs: NeedsByKind::of(kind, needs) }
}

/// The keys that ask of the built-in colours with `ca=`.
fn colors() -> Vec<Claim> {
    Vec::from([
        key(Key::Exec, Kind::Reg, Needs::MODE),
        key(Key::Setuid, Kind::Reg, Needs::MODE),
        key(Key::Setgid, Kind::Reg, Needs::MODE),
        key(Key::Capability, Kind::Reg, Needs::CAPABILITY),
        key(Key::OtherWritable, Kind::Dir, Needs::MODE),
    ])
}

fn seen(entries: &[(Kind, u64)]) -> Seen {
    let mut seen = Seen::default();
    for (kind, count) in entries {
        (0..*count).for_each(|_| seen.entry(*kind, *kind));
    }
    seen
}

fn by_kind(calls: &[(Kind, Call, u64, u64)]) -> CallsByKind {
    let mut by_kind = CallsByKind::default();
    for (kind, call, count, waited_ns) in calls {
        by_kind.of_mut(*kind).add(*call, Calls { count: *count, waited_ns: *waited_ns });
    }
    by_kind
}

fn facts<'a>(claims: &'a [Claim], fs: FsType, past: Option<Past<'a>>) -> Facts<'a> {
    Facts { claims, colors_are_set: false, lazy: false, mode: Mode::Auto, policy: Policy::of(Some(fs)), past }
}

fn flight(most: usize) -> Option<Choice> {
    Some(Choice { strategy: Strategy::Flight(most), reason: "each answer is a round trip" })
}

#[test]
fn colours_of_ten_thousand_files_far_away() {
    let claims = colors();
    let seen = seen(&[(Kind::Reg, 9998), (Kind::Dir, 1)]);
    let by_kind = by_kind(&[
        (Kind::Reg, Call::Stat, 9998, 12_412 * MS),
        (Kind::Reg, Call::Xattr, 9998, 11_997 * MS),
        (Kind::Dir, Call::Stat, 1, 1_204_000),
    ]);
    let elapsed = (112 * MS, 105 * MS);
    let past = Past { seen: &seen, by_kind, in_flight: 256, choice: flight(256), elapsed };
    let mut facts = facts(&claims, FsType::FUSE, Some(past));
    assert_eq!(
        facts.text(),
        "explain: 9,999 entries on FUSE: 9,998 regular files and 1 directory\n\
         \u{20} `ex=`, `su=` and `sg=` need the mode of 9,998 regular files: 9,998 statx, 12.4 s of waiting\n\
         \u{20} `ow=` needs the mode of 1 directory: 1 statx, 1.20 ms of waiting\n\
         \u{20} `ca=` needs the capability of 9,998 regular files: 9,998 listxattrat, 11.9 s of waiting\n\
         cost: 9,999 statx and 9,998 listxattrat: 24.4 s of waiting within 105 ms; 112 ms in all\n\
         file system: FUSE: a program answers, maybe for a server; each piece of the directory is a request of its own\n\
         strategy: par, up to 256 in flight of 256 allowed: each answer is a round trip\n\
         cheapest change (1 call instead of 19,997): export LS_COLORS='ex=00:su=00:sg=00:ca=00'\n\
         or --lazy, for what the client remembers, which may be stale\n"
    );
    facts.colors_are_set = true;
    facts.lazy = true;
    let text = facts.text();
    let last = "cheapest change (1 call instead of 19,997): export LS_COLORS=\"$LS_COLORS:ex=00:su=00:sg=00:ca=00\"\n";
    assert!(text.ends_with(last), "{text}");
}

#[test]
fn an_answer_is_paid_for_once() {
    let mut claims = Vec::from([option("-l", NeedsByKind::all(Needs::SIZE | Needs::MODE))]);
    claims.extend(colors());
    claims.push(option("-F", NeedsByKind::of(Kind::Reg, Needs::MODE)));
    claims.push(option("-l", NeedsByKind::all(Needs::MARK)));
    let seen = seen(&[(Kind::Reg, 10), (Kind::Dir, 2)]);
    let by_kind = by_kind(&[
        (Kind::Reg, Call::Stat, 10, 0),
        (Kind::Dir, Call::Stat, 2, 0),
        (Kind::Reg, Call::Xattr, 10, 0),
        (Kind::Dir, Call::Xattr, 2, 0),
    ]);
    let past = Past { seen: &seen, by_kind, in_flight: 0, choice: None, elapsed: (MS, MS) };
    let text = facts(&claims, FsType::EXT, Some(past)).text();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(
        lines,
        [
            "`-l` needs the mode and size of all 12 entries: 12 statx",
            "`ex=`, `su=`, `sg=` and `-F` need the mode of 10 regular files: by the same statx",
            "`ow=` needs the mode of 2 directories: by the same statx",
            "`-l` needs the mark of an ACL of all 12 entries: 12 listxattrat",
            "`ca=` needs the capability of 10 regular files: by the same listxattrat",
        ]
    );
}

/// Where marks are round trips, `--explain` tells their price: in requests and waiting after a listing, without numbers before it.
#[test]
fn marks_have_a_price_where_a_server_answers() {
    let mark = [option("-l", NeedsByKind::all(Needs::MODE | Needs::MARK))];
    let seen = seen(&[(Kind::Reg, 1500)]);
    let by_kind =
        by_kind(&[(Kind::Reg, Call::Stat, 1500, 9 * MS), (Kind::Reg, Call::Xattr, 1500, 3_000 * MS)]);
    let elapsed = (900 * MS, 850 * MS);
    let past = || Some(Past { seen: &seen, by_kind, in_flight: 64, choice: flight(64), elapsed });
    let price = |claims: &[Claim], fs, past| {
        let text = facts(claims, fs, past).text();
        text.lines().find(|line| line.contains("--acl=never")).map(str::to_string)
    };
    let told = price(&mark, FsType::NFS, past()).expect("a price");
    assert!(told.ends_with("or --acl=never: 1,500 requests, 3.00 s of waiting less"), "{told}");
    let told = price(&mark, FsType::NFS, None).expect("a price");
    assert!(told.ends_with("or --acl=never: one request less for each entry"), "{told}");
    assert_eq!(price(&mark, FsType::EXT, past()), None, "no server");
    let near = [option("-l", NeedsByKind::all(Needs::MODE | Needs::NEAR_MARK))];
    assert_eq!(price(&near, FsType::NFS, past()), None, "not requested there");
    let hint = remedy::without_acls((1500, 2_390 * MS));
    assert!(hint.contains("give --acl=never: 1,500 ACLs took a request each, 2.39 s in all"), "{hint}");
}

#[test]
fn one_of_everything_is_singular() {
    let claims = [option("-l", NeedsByKind::all(Needs::SIZE) | NeedsByKind::of(Kind::Link, Needs::LINK))];
    let seen = Seen { operands: 1, operand_stats: 2, ..seen(&[(Kind::Link, 1)]) };
    let by_kind = by_kind(&[(Kind::Link, Call::Stat, 1, 0), (Kind::Link, Call::Readlink, 1, 0)]);
    let choice = Some(Choice { strategy: Strategy::Par(1), reason: "as asked" });
    let past = Past { seen: &seen, by_kind, in_flight: 0, choice, elapsed: (40_000, 20_000) };
    assert_eq!(
        facts(&claims, FsType::EXT, Some(past)).text(),
        "explain: 1 entry on ext4: 1 symbolic link; 1 operand named, which is always asked about: 2 statx\n\
         \u{20} `-l` needs the size of 1 symbolic link: 1 statx\n\
         \u{20} `-l` needs the text of 1 symbolic link: 1 readlinkat\n\
         cost: 1 statx and 1 readlinkat within 0.02 ms; 0.04 ms in all\n\
         file system: ext4: answers come from memory or a disk\n\
         strategy: par, 1 thread: as asked\n\
         cheapest change (0 calls instead of 2): drop `-l`\n"
    );
}

#[test]
fn names_alone_cost_nothing() {
    let seen = seen(&[(Kind::Reg, 3)]);
    let past = Past {
        seen: &seen,
        by_kind: CallsByKind::default(),
        in_flight: 0,
        choice: None,
        elapsed: (100_000, 0),
    };
    let claims = [option("-p", NeedsByKind::all(Needs::TYPE))];
    assert_eq!(
        facts(&claims, FsType::TMPFS, Some(past)).text(),
        "explain: 3 entries on tmpfs: 3 regular files\n\
         \u{20} no entry needs a request: the directory has names and types\n\
         cost: no calls about entries; 0.10 ms in all\n\
         file system: tmpfs: answers come from memory or a disk\n"
    );
}

#[test]
fn only_devices_have_device_numbers() {
    let devices = NeedsByKind::of(Kind::Char, Needs::RDEV);
    let claims = [option("-l", NeedsByKind::all(Needs::MODE) | devices)];
    let of = |counts: &[(Kind, u64)]| {
        let seen = seen(counts);
        let by_kind = by_kind(&[(Kind::Char, Call::Stat, 2, 0)]);
        let past = Past { seen: &seen, by_kind, in_flight: 0, choice: None, elapsed: (MS, MS) };
        facts(&claims, FsType::TMPFS, Some(past)).text()
    };
    let mixed = of(&[(Kind::Reg, 1), (Kind::Char, 2)]);
    assert!(mixed.contains("`-l` needs the mode of all 3 entries"), "{mixed}");
    let alone = of(&[(Kind::Char, 2)]);
    assert!(alone.contains("`-l` needs the mode and device number of 2 character devices"), "{alone}");
}

#[test]
fn types_that_the_directory_hides() {
    let claims = colors();
    let mut seen = seen(&[(Kind::Reg, 2), (Kind::Link, 3)]);
    seen.untyped = 5;
    let by_kind = by_kind(&[
        (Kind::Reg, Call::Stat, 2, 4 * MS),
        (Kind::Reg, Call::Xattr, 2, 4 * MS),
        (Kind::Link, Call::Stat, 3, 6 * MS),
    ]);
    let past = Past { seen: &seen, by_kind, in_flight: 0, choice: None, elapsed: (9 * MS, 8 * MS) };
    let text = facts(&claims, FsType::XFS, Some(past)).text();
    let line = "  the directory tells no types, and those are wanted: 3 statx, 6.00 ms of waiting\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn inode_numbers_that_readdir_told() {
    let claims = [option("-i", NeedsByKind::all(Needs::INODE))];
    let seen = seen(&[(Kind::Reg, 998), (Kind::Dir, 2)]);
    let by_kind = CallsByKind::default();
    let past = Past { seen: &seen, by_kind, in_flight: 0, choice: None, elapsed: (MS, 0) };
    let text = facts(&claims, FsType::EXT, Some(past)).text();
    let line = "  `-i` needs the inode number of all 1,000 entries: no call, the directory told\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn the_smallest_change_that_spares_nine_of_ten() {
    let last = |claims: &[Claim]| {
        let text = facts(claims, FsType::EXT, None).text();
        text.lines().last().unwrap_or_default().to_string()
    };
    let sort = option("-t", NeedsByKind::all(Needs::MTIME));
    let classify = option("-F", NeedsByKind::of(Kind::Reg, Needs::MODE));
    let mut both = colors();
    assert_eq!(last(&both), "cheapest change: export LS_COLORS='ex=00:su=00:sg=00:ca=00'");
    both.push(classify.clone());
    assert_eq!(last(&both), "cheapest change: drop `-F`; export LS_COLORS='ex=00:su=00:sg=00:ca=00'");
    both.push(sort.clone());
    assert_eq!(
        last(&both),
        "cheapest change: drop `-F` and `-t`; export LS_COLORS='ex=00:su=00:sg=00:ca=00'"
    );
    assert_eq!(last(&[classify, sort.clone()]), "cheapest change: drop `-F` and `-t`");
    let links = key(Key::HardLink, Kind::Reg, Needs::NLINK);
    assert_eq!(last(&[links, sort]), "cheapest change: drop `-t`", "mh= is free without -t");
}

#[test]
fn a_plan_has_no_numbers() {
    let claims = colors();
    let mut facts = facts(&claims, FsType::V9FS, None);
    facts.lazy = true;
    assert_eq!(
        facts.text(),
        "  `ex=`, `su=` and `sg=` need the mode of every regular file: one statx each\n\
         \u{20} `ow=` needs the mode of every directory: one statx each\n\
         \u{20} `ca=` needs the capability of every regular file: one listxattrat each\n\
         file system: 9p: the host answers, with a limited number of threads\n\
         \u{20} --lazy changes nothing there\n\
         strategy: one thread up to 127 entries; for more, the first answer decides\n\
         cheapest change: export LS_COLORS='ex=00:su=00:sg=00:ca=00'\n"
    );
}

/// The union of the declarations of all consumers is the needs of the plan.
#[test]
fn claims_add_up_to_the_needs() {
    use crate::args::{Flag, Said};
    for colors in [None, Some(""), Some("mh=1:ca=1:or=1:mi=1"), Some("ln=target:ex=1"), Some("or=0:mi=1")] {
        for format in [dents_render::Format::Long, dents_render::Format::Lines] {
            for indicator in [dents_render::Indicator::None, dents_render::Indicator::Classify] {
                for (directories_first, sort) in [(false, true), (true, false), (true, true)] {
                    let colors =
                        colors.map(|text| dents_render::Colors::parse(text.as_bytes()).unwrap_or_default());
                    let targets = directories_first;
                    let style = Style {
                        names: NameStyle { colors, indicator, targets, ..NameStyle::default() },
                        format,
                        prefix: PrefixStyle { blocks: sort, ..PrefixStyle::default() },
                        ..Style::default()
                    };
                    let key = if sort { dents_core::sort::Key::Size } else { dents_core::sort::Key::None };
                    let order = dents_core::sort::Order { key, directories_first, ..Default::default() };
                    let said = [Said { flag: Flag::SortBySize, value: None }];
                    let claims = crate::plan::claims(&said, &style, &order, false);
                    let mut sum = NeedsByKind::default();
                    claims.iter().for_each(|claim| sum |= claim.needs);
                    assert!(
                        sum == style.needs() | order.needs(style.long.time),
                        "{style:?} {order:?} {claims:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn numbers_and_times() {
    let times = [0, 40_000, 4_710_000, 112 * MS, 1_000 * MS, 12_412 * MS, 1_234_567 * MS];
    let expected = ["0.00 ms", "0.04 ms", "4.71 ms", "112 ms", "1.00 s", "12.4 s", "1,234 s"];
    assert_eq!(times.map(duration), expected);
    let words = |count: usize| list((1..=count).map(|n| format!("{n}")).collect(), "and");
    assert_eq!([0, 1, 2, 3].map(words), ["", "1", "1 and 2", "1, 2 and 3"]);
}
