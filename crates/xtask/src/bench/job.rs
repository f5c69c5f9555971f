//! The jobs of listers: options and environment, in the spelling of each program.

/// One way to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// `-al`: the headline.
    Long,
    /// `-U1`: names as the kernel gives them.
    Unsorted,
    /// `-1`: names, sorted.
    Names,
    /// `-lt`
    Time,
    /// `-lS`
    Size,
    /// `-lv`
    Version,
    /// `-R`
    Recursive,
    /// `-al` on a kernel before 6.13, which has no `listxattrat`.
    Older,
    /// `-al` in en_US.UTF-8, whose order needs keys.
    Locale,
    /// `--color=always` with the built-in colours.
    Color,
    /// The same with every key off that would cost a stat.
    CheapColor,
}

impl Job {
    /// The options, as GNU `ls` has them.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Job::Long | Job::Locale | Job::Older => &["-al"],
            Job::Unsorted => &["-U1"],
            Job::Names => &["-1"],
            Job::Time => &["-lt"],
            Job::Size => &["-lS"],
            Job::Version => &["-lv"],
            Job::Recursive => &["-R"],
            Job::Color | Job::CheapColor => &["--color=always"],
        }
    }

    /// Variables to set in an environment that has `LC_ALL=C`, no LS_COLORS and no `TZ` otherwise.
    pub(crate) fn env(self) -> Option<(&'static str, &'static str)> {
        match self {
            Job::Locale => Some(("LC_ALL", "en_US.UTF-8")),
            Job::CheapColor => Some(("LS_COLORS", "ex=00:su=00:sg=00:ca=00")),
            _ => None,
        }
    }

    /// For tables: environment and options.
    pub(crate) fn name(self) -> String {
        if self == Job::Older {
            return "-al without listxattrat".into();
        }
        let options = self.options().join(" ");
        match self.env() {
            Some((name, value)) => format!("{name}={value} {options}"),
            None => options,
        }
    }
}

/// Which program, as far as its options and its place in tables depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An empty process, the shortest there is.
    Empty,
    /// The kernel's part of `-al`; with `true` overlapped.
    Floor(bool),
    /// GNU `ls`, the measure.
    Gnu,
    /// `busybox ls` and uutils: GNU's options, as far as they have them.
    LikeGnu,
    Eza,
    Lsd,
    Lsr,
    /// `dls` in the mode of this name.
    Ours(&'static str),
    /// From `PEERS`: words with `{args}` and `{dir}` in them.
    Extra,
}

impl Kind {
    /// The words after the program's own; `None` where it has no way to do this job.
    pub(crate) fn words(&self, job: Job, dir: &str) -> Option<Vec<String>> {
        let owned = |words: &[&str]| Some(words.iter().chain(&[dir]).map(|word| word.to_string()).collect());
        match (self, job) {
            (Kind::Empty, _) => Some(Vec::new()),
            (Kind::Floor(overlap), Job::Long) => Some(
                [dir, "overlap"][..1 + usize::from(*overlap)].iter().map(|word| word.to_string()).collect(),
            ),
            (Kind::Gnu | Kind::LikeGnu, _) => owned(job.options()),
            (Kind::Ours("auto"), _) => owned(job.options()),
            (Kind::Ours(mode), Job::Long) => owned(&[&format!("--mode={mode}"), "-al"]),
            (Kind::Eza | Kind::Lsd | Kind::Lsr, Job::Long) => owned(&["-al"]),
            (Kind::Eza | Kind::Lsd | Kind::Lsr, Job::Names) => owned(&["-1"]),
            (Kind::Eza, Job::Unsorted) => owned(&["-1", "--sort=none"]),
            (Kind::Lsd, Job::Unsorted) => owned(&["-1", "-U"]),
            _ => None,
        }
    }
}

/// The words of a `PEERS` command. Without `{args}` it is only fit for the job it spells out, which is taken to
/// be `-al`.
pub(crate) fn extra_words(command: &[String], job: Job, dir: &str) -> Option<Vec<String>> {
    let open = command.iter().any(|word| word == "{args}");
    if !open && job != Job::Long {
        return None;
    }
    let mut words = Vec::new();
    for word in command {
        match word.as_str() {
            "{args}" => words.extend(job.options().iter().map(|option| option.to_string())),
            _ => words.push(word.replace("{dir}", dir)),
        }
    }
    if !command.iter().any(|word| word.contains("{dir}")) {
        words.push(dir.to_string());
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn programs_get_their_own_options() {
        assert_eq!(Kind::Ours("iou").words(Job::Long, "/d"), Some(words("--mode=iou -al /d")));
        assert_eq!(Kind::Ours("iou").words(Job::Names, "/d"), None);
        assert_eq!(Kind::Ours("auto").words(Job::Names, "/d"), Some(words("-1 /d")));
        assert_eq!(Kind::Floor(true).words(Job::Long, "/d"), Some(words("/d overlap")));
        assert_eq!(Kind::Floor(false).words(Job::Long, "/d"), Some(words("/d")));
        assert_eq!(Kind::Eza.words(Job::Unsorted, "/d"), Some(words("-1 --sort=none /d")));
    }

    #[test]
    fn extra_peers_say_where_things_go() {
        assert_eq!(extra_words(&words("p -l {dir}"), Job::Long, "/d"), Some(words("p -l /d")));
        assert_eq!(extra_words(&words("p -l"), Job::Long, "/d"), Some(words("p -l /d")));
        assert_eq!(extra_words(&words("p -l {dir}"), Job::Names, "/d"), None);
        assert_eq!(extra_words(&words("p {args} x={dir}"), Job::Unsorted, "/d"), Some(words("p -U1 x=/d")));
    }
}
