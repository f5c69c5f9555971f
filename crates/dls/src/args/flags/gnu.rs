//! The options that GNU has.

use super::Flag;

/// GNU's long options in the order of GNU's own table, which is also their order in its messages. Source: the output
/// of `ls --=`, which lists them all.
pub(in super::super) const GNU_ORDER: [Flag; 44] = [
    Flag::All,
    Flag::Escape,
    Flag::Directory,
    Flag::Dired,
    Flag::FullTime,
    Flag::GroupDirectoriesFirst,
    Flag::HumanReadable,
    Flag::Inode,
    Flag::Kibibytes,
    Flag::NumericUidGid,
    Flag::NoGroup,
    Flag::HideControlChars,
    Flag::Reverse,
    Flag::Size,
    Flag::Width,
    Flag::AlmostAll,
    Flag::IgnoreBackups,
    Flag::Classify,
    Flag::FileType,
    Flag::Si,
    Flag::DereferenceCommandLine,
    Flag::DereferenceCommandLineSymlinkToDir,
    Flag::Hide,
    Flag::Ignore,
    Flag::IndicatorStyle,
    Flag::Dereference,
    Flag::Literal,
    Flag::QuoteName,
    Flag::QuotingStyle,
    Flag::Recursive,
    Flag::Format,
    Flag::ShowControlChars,
    Flag::Sort,
    Flag::TabSize,
    Flag::Time,
    Flag::TimeStyle,
    Flag::Zero,
    Flag::Color,
    Flag::Hyperlink,
    Flag::BlockSize,
    Flag::Context,
    Flag::Author,
    Flag::Help,
    Flag::Version,
];

/// Whether GNU has the option, as far as it has a long name.
pub(in super::super) fn is_gnu(flag: Flag) -> bool {
    GNU_ORDER.contains(&flag)
}
