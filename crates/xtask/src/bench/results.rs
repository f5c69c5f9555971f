//! The measured figures, by directory, job and place.

use super::directories::Shape;
use super::job::Job;
use super::measure::Conditions;

/// Directory, job and file system of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The file system's type.
    pub(crate) fs: String,
    /// The contents of the directory.
    pub(crate) shape: Shape,
    /// How many entries.
    pub(crate) count: usize,
    /// The job.
    pub(crate) job: Job,
    /// Under which circumstances.
    pub(crate) conditions: Conditions,
}

impl Key {
    /// Warm, on all cores.
    pub(crate) fn warm(fs: &str, shape: Shape, count: usize, job: Job) -> Key {
        Key { fs: fs.into(), shape, count, job, conditions: Conditions::default() }
    }
}

/// Figures of one kind by key and program, in the order in which they were measured.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<(Key, String, f64)>);

impl Figures {
    /// Adds one.
    pub(crate) fn add(&mut self, key: &Key, program: &str, figure: f64) {
        self.0.push((key.clone(), program.into(), figure));
    }

    /// The figure of one program.
    pub(crate) fn get(&self, key: &Key, program: &str) -> Option<f64> {
        self.0.iter().find(|row| row.0 == *key && row.1 == program).map(|row| row.2)
    }

    /// The figure of one program over that of another.
    pub(crate) fn ratio(&self, key: &Key, program: &str, base: &str) -> Option<f64> {
        Some(self.get(key, program)? / self.get(key, base).filter(|base| *base > 0.0)?)
    }

    /// The figure at `key`, extrapolated with the count from the last smaller one.
    pub(crate) fn expected(&self, key: &Key, program: &str) -> Option<f64> {
        let smaller = |row: &&(Key, String, f64)| {
            row.1 == program
                && row.0.count < key.count
                && row.0.count >= 1000
                && Key { count: key.count, ..row.0.clone() } == *key
        };
        let (at, _, figure) = self.0.iter().filter(smaller).max_by_key(|row| row.0.count)?;
        Some(figure * key.count as f64 / at.count as f64)
    }

    /// The keys that `wanted` likes, each once, in order.
    pub(crate) fn keys(&self, wanted: impl Fn(&Key) -> bool) -> Vec<&Key> {
        let mut keys: Vec<&Key> = Vec::new();
        for (key, ..) in self.0.iter().filter(|row| wanted(&row.0)) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// The programs that have a figure under one of `keys`, each once, in order.
    pub(crate) fn programs(&self, keys: &[&Key]) -> Vec<&str> {
        let mut programs: Vec<&str> = Vec::new();
        for (_, program, _) in self.0.iter().filter(|row| keys.contains(&&row.0)) {
            if !programs.contains(&program.as_str()) {
                programs.push(program);
            }
        }
        programs
    }

    /// One program's figures over the count, for a plot.
    pub(crate) fn line(&self, keys: &[&Key], program: &str) -> Vec<(f64, f64)> {
        let point = |key: &&Key| Some((key.count as f64, self.get(key, program)?));
        keys.iter().filter_map(point).collect()
    }
}

/// All figures of one run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Median seconds.
    pub(crate) times: Figures,
    /// System calls.
    pub(crate) calls: Figures,
    /// Peak resident memory in KiB.
    pub(crate) memory: Figures,
    /// Cells that were left out, and why.
    pub(crate) notes: Vec<String>,
}

impl Results {
    /// The file systems that anything was measured on, each once, in order.
    pub(crate) fn systems(&self) -> Vec<&str> {
        let mut systems = Vec::new();
        for key in
            [&self.times, &self.calls, &self.memory].into_iter().flat_map(|figures| figures.keys(|_| true))
        {
            if !systems.contains(&key.fs.as_str()) {
                systems.push(key.fs.as_str());
            }
        }
        systems
    }

    /// Adds a note about a measurement that was left out, once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            println!("   {note}");
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_compared_and_foreseen() {
        let key = |count| Key::warm("ext4", Shape::Plain, count, Job::Long);
        let mut times = Figures::default();
        times.add(&key(100), "a", 1.0);
        times.add(&key(1000), "a", 2.0);
        times.add(&key(1000), "b", 8.0);
        assert_eq!(times.ratio(&key(1000), "a", "b"), Some(0.25));
        assert_eq!(times.ratio(&key(100), "a", "b"), None);
        assert_eq!(times.expected(&key(10_000), "a"), Some(20.0));
        assert_eq!(times.expected(&key(1000), "a"), None);
        let keys = times.keys(|key| key.job == Job::Long);
        assert_eq!(keys.iter().map(|key| key.count).collect::<Vec<_>>(), [100, 1000]);
        assert_eq!(times.programs(&keys), ["a", "b"]);
        assert_eq!(times.line(&keys, "b"), [(1000.0, 8.0)]);
    }
}
