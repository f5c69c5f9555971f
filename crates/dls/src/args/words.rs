//! The words that options take as values (`--sort=size`), and how a word is recognised.
//!
//! A word may be shortened if all words that begin with it have the same meaning. The order of the lists is that of
//! the error messages of GNU 9.7, as observed; GNU accepts `c-maybe` and `clocale` although its manual does not name
//! them.

/// A set of words with meanings.
pub trait Words: Copy + 'static {
    /// The spellings of each meaning.
    const SPELLINGS: &'static [&'static [&'static str]];
    /// The meanings, parallel to [`Words::SPELLINGS`].
    const MEANINGS: &'static [Self];
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $($word:literal)|+,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl Words for $name {
            const SPELLINGS: &'static [&'static [&'static str]] = &[$(&[$($word),+]),+];
            const MEANINGS: &'static [Self] = &[$(Self::$variant),+];
        }
    )+ };
}

words! {
    /// `--color`, `--classify`, `--hyperlink`: when to do it. Without a value they mean [`When::Always`].
    When {
        /// In any case.
        Always = "always" | "yes" | "force",
        /// In no case.
        Never = "never" | "no" | "none",
        /// If stdout is a terminal.
        Auto = "auto" | "tty" | "if-tty",
    }

    /// `--acl`: when the mark after the mode is requested.
    Acl {
        /// In any case, as GNU `ls` does.
        Always = "always",
        /// Where no server has to be asked.
        Auto = "auto",
        /// In no case: there is no mark.
        Never = "never",
    }

    /// `--color-scale`: which columns. Without a value it means [`ColorScale::All`].
    ColorScale {
        /// Both.
        All = "all",
        /// Times, by age.
        Age = "age",
        /// Sizes, by their unit.
        Size = "size",
    }

    /// `--explain`: when. Without a value it means [`Explain::Listing`].
    Explain {
        /// After the listing, from the recorded requests.
        Listing = "listing",
        /// Before anything is asked, and instead of it.
        Plan = "plan",
    }

    /// `--format`: the shape of the output.
    Format {
        /// `-l`
        Long = "verbose" | "long",
        /// `-m`
        Commas = "commas",
        /// `-x`
        Across = "horizontal" | "across",
        /// `-C`
        Vertical = "vertical",
        /// `-1`
        SingleColumn = "single-column",
    }

    /// `--sort`: the key. `name` is younger than GNU 9.1; ours are in [`OwnSort`].
    Sort {
        /// `-U`
        None = "none",
        /// `-S`
        Size = "size",
        /// `-t`
        Time = "time",
        /// `-v`
        Version = "version",
        /// `-X`
        Extension = "extension",
        /// The default.
        Name = "name",
        /// Columns that the quoted name takes.
        Width = "width",
    }

    /// Values that `--sort` takes beside the words of [`Sort`]. GNU does not have them: so error messages do not list
    /// them, and they cannot be shortened, because `na` is short for `name`.
    OwnSort {
        /// By name; digits are numbers, and capitals are not set apart.
        Natural = "natural",
        /// By the time of birth, newest first.
        Created = "created",
        /// By the time of the last change of the contents, newest first.
        Modified = "modified",
        /// By inode number.
        Inode = "inode",
        /// Directories, then regular files, links, and all other types.
        Type = "type",
    }

    /// `--time`: which of an entry's times. The words for modification are younger than GNU 9.1.
    Time {
        /// `-u`
        Access = "atime" | "access" | "use",
        /// `-c`
        Change = "ctime" | "status",
        /// The default.
        Modification = "mtime" | "modification",
        /// statx's stx_btime.
        Birth = "birth" | "creation",
    }

    /// `--indicator-style`: the character after a name.
    IndicatorStyle {
        /// No character.
        None = "none",
        /// `-p`
        Slash = "slash",
        /// `--file-type`
        FileType = "file-type",
        /// `-F`
        Classify = "classify",
    }

    /// `--quoting-style` and the environment's QUOTING_STYLE.
    QuotingStyle {
        /// `-N`
        Literal = "literal",
        /// Quoted for a shell where needed.
        Shell = "shell",
        /// Quoted for a shell always.
        ShellAlways = "shell-always",
        /// As `shell`, with `$'\n'` for unprintable characters. The default on a terminal.
        ShellEscape = "shell-escape",
        /// As `shell-always`, with `$'\n'` for unprintable characters.
        ShellEscapeAlways = "shell-escape-always",
        /// `-Q`
        C = "c",
        /// As `c`, where needed.
        CMaybe = "c-maybe",
        /// `-b`
        Escape = "escape",
        /// The locale's quotes.
        Locale = "locale",
        /// The locale's quotes, double ones in the C locale.
        CLocale = "clocale",
    }

    /// `--block-size`, where a word asks for a unit chosen for each size.
    Human {
        /// `-h`: powers of 1024.
        Base1024 = "human-readable",
        /// `--si`: powers of 1000.
        Base1000 = "si",
    }

    /// `--mode`: the strategy that fills in metadata.
    Mode {
        /// Chosen during the run.
        Auto = "auto",
        /// One thread, one statx after the other.
        Classic = "classic",
        /// Several threads.
        Par = "par",
        /// Batches through io_uring.
        Iou = "iou",
    }

    /// The time styles that have a name; see [`TimeStyle`] for all.
    NamedTimeStyle {
        /// `2024-06-30 15:04:05.123456789 +0200`
        FullIso = "full-iso",
        /// `2024-06-30 15:04`
        LongIso = "long-iso",
        /// `06-30 15:04`, or `2023-06-30 ` if not recent
        Iso = "iso",
        /// As the locale has it; the default.
        Locale = "locale",
    }
}

/// The value of `--time-style` that GNU does not have: ages.
pub const RELATIVE: &str = "relative";

/// Why a word was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadWord {
    /// Whether words of different meanings begin with it; otherwise none does.
    pub ambiguous: bool,
    /// The words that would have done, one slice per meaning.
    pub valid: &'static [&'static [&'static str]],
}

/// The meaning of `value`: an exact spelling, or the beginning of spellings with the same meaning.
///
/// # Errors
/// [`BadWord`]. Never for a value that [`super::parse`] has accepted.
pub fn lookup<W: Words>(value: &[u8]) -> Result<W, BadWord> {
    let bad = |ambiguous| BadWord { ambiguous, valid: W::SPELLINGS };
    let mut found = None;
    let mut ambiguous = false;
    for (&meaning, spellings) in W::MEANINGS.iter().zip(W::SPELLINGS) {
        if spellings.iter().any(|word| word.as_bytes() == value) {
            return Ok(meaning);
        }
        if spellings.iter().any(|word| word.as_bytes().starts_with(value)) {
            ambiguous |= found.is_some();
            found = Some(meaning);
        }
    }
    match found {
        Some(meaning) if !ambiguous => Ok(meaning),
        _ => Err(bad(ambiguous)),
    }
}

/// Of `--sort`, a word that GNU does not have.
#[must_use]
pub fn own_sort(value: &[u8]) -> Option<OwnSort> {
    let exact = |spellings: &&[&str]| spellings.iter().any(|word| word.as_bytes() == value);
    let place = OwnSort::SPELLINGS.iter().position(exact)?;
    Some(OwnSort::MEANINGS[place])
}

/// How times are written in a long listing: `--time-style`, or the environment's TIME_STYLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeStyle<'a> {
    /// A style with a name.
    Named(NamedTimeStyle),
    /// `+FORMAT`, as date(1) has it; `+OLDER\nRECENT` gives two.
    Format {
        /// For times that are more than six months past or to come.
        older: &'a [u8],
        /// For the others.
        recent: &'a [u8],
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_short_and_ambiguous() {
        assert_eq!(lookup(b"always"), Ok(When::Always));
        assert_eq!(lookup(b"n"), Ok(When::Never), "never, no and none mean the same");
        assert_eq!(lookup(b"i"), Ok(When::Auto));
        assert!(lookup::<When>(b"a").unwrap_err().ambiguous);
        assert!(lookup::<When>(b"").unwrap_err().ambiguous);
        assert!(!lookup::<When>(b"alwaysx").unwrap_err().ambiguous);
        assert!(!lookup::<When>(b"Always").unwrap_err().ambiguous);
        assert!(!lookup::<When>(b"\xff").unwrap_err().ambiguous);
        assert_eq!(lookup(b"shell"), Ok(QuotingStyle::Shell), "an exact word wins over those it begins");
        assert_eq!(lookup(b"c"), Ok(QuotingStyle::C));
        assert_eq!(lookup(b"cl"), Ok(QuotingStyle::CLocale));
    }

    fn spellings_mean_what_they_say<W: Words + PartialEq + core::fmt::Debug>() {
        assert_eq!(W::SPELLINGS.len(), W::MEANINGS.len());
        for (meaning, spellings) in W::MEANINGS.iter().zip(W::SPELLINGS) {
            for word in *spellings {
                assert_eq!(lookup::<W>(word.as_bytes()).as_ref(), Ok(meaning), "{word}");
            }
        }
    }

    #[test]
    fn every_spelling() {
        spellings_mean_what_they_say::<When>();
        spellings_mean_what_they_say::<Format>();
        spellings_mean_what_they_say::<Sort>();
        spellings_mean_what_they_say::<Time>();
        spellings_mean_what_they_say::<IndicatorStyle>();
        spellings_mean_what_they_say::<QuotingStyle>();
        spellings_mean_what_they_say::<Mode>();
        spellings_mean_what_they_say::<Human>();
        spellings_mean_what_they_say::<NamedTimeStyle>();
    }
}
