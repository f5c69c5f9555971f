//! A tree of any size that takes no memory: each directory is made from its seed when it is read.

use crate::rng::Rng;

/// Files of an ordinary directory, on average, if it has room for them.
const FILES: f64 = 30.0;
/// Each subdirectory of an ordinary directory has this many inodes below it, on average, at least.
const ROOM: u64 = 40;
/// Most subdirectories of an ordinary directory.
const SUBDIRECTORIES: u64 = 12;

/// What a directory is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Some files, and subdirectories of very different sizes.
    Ordinary,
    /// An ordinary one, one flat one with this many inodes, and a chain of so many directories.
    Root { flat: u32, chain: u8 },
    /// Files alone.
    Flat,
    /// One file and one subdirectory, this many times; then an ordinary one.
    Chain(u8),
}

/// A directory and all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    seed: u64,
    inodes: u64,
    shape: Shape,
}

impl Directory {
    /// A tree with this many inodes, its root included. `flat` of them are one directory without subdirectories, and some are below a
    /// chain of `chain` directories; each of these needs room: at most a quarter of the tree, else it is left out.
    pub fn root(seed: u64, inodes: u64, flat: u32, chain: u8) -> Directory {
        let flat = if u64::from(flat) * 4 <= inodes { flat } else { 0 };
        let chain = if u64::from(chain) * 16 <= inodes { chain } else { 0 };
        Directory { seed, inodes, shape: Shape::Root { flat, chain } }
    }

    /// A directory without subdirectories.
    pub fn flat(seed: u64, inodes: u64) -> Directory {
        Directory { seed, inodes, shape: Shape::Flat }
    }

    /// A number that tells it from the others.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Adds its subdirectories to `found`; returns the number of its other entries.
    pub fn read(&self, found: &mut Vec<Directory>) -> u64 {
        let mut rng = Rng::new(self.seed);
        let below = self.inodes - 1;
        match self.shape {
            Shape::Flat => below,
            Shape::Chain(length) => {
                let shape = if length > 1 { Shape::Chain(length - 1) } else { Shape::Ordinary };
                found.push(Directory { seed: rng.next_u64(), inodes: below - 1, shape });
                1
            }
            Shape::Root { flat, chain } => {
                let deep = if chain > 0 { (below / 8).max(u64::from(chain) * 4) } else { 0 };
                let rest = below - u64::from(flat) - deep;
                let parts =
                    [(u64::from(flat), Shape::Flat), (deep, Shape::Chain(chain)), (rest, Shape::Ordinary)];
                for (inodes, shape) in parts.into_iter().filter(|part| part.0 > 0) {
                    found.push(Directory { seed: rng.next_u64(), inodes, shape });
                }
                0
            }
            Shape::Ordinary => {
                let files = ((-unit(&mut rng).ln() * FILES) as u64).min(below);
                let mut left = below - files;
                let most = left / ROOM;
                if most == 0 {
                    return below;
                }
                let count = 1 + rng.next_u64() % most.min(SUBDIRECTORIES);
                for nth in (0..count).rev() {
                    // The square of a uniform number: few large ones, many small ones.
                    let share = unit(&mut rng).powi(2) * (left - nth) as f64;
                    let inodes = if nth == 0 { left } else { (share as u64).clamp(1, left - nth) };
                    left -= inodes;
                    found.push(Directory { seed: rng.next_u64(), inodes, shape: Shape::Ordinary });
                }
                files
            }
        }
    }
}

/// Above 0, at most 1.
pub(super) fn unit(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories, inodes, the depth, and the entries of the largest directory.
    fn measure(root: Directory) -> (u64, u64, usize, u64) {
        let (mut waiting, mut found) = (vec![(root, 0)], Vec::new());
        let (mut directories, mut inodes, mut deepest, mut largest) = (0, 0, 0, 0);
        while let Some((directory, depth)) = waiting.pop() {
            let files = directory.read(&mut found);
            (directories, inodes) = (directories + 1, inodes + 1 + files);
            (deepest, largest) = (deepest.max(depth), largest.max(files + found.len() as u64));
            waiting.extend(found.drain(..).map(|one| (one, depth + 1)));
        }
        (directories, inodes, deepest, largest)
    }

    #[test]
    fn a_tree_has_the_inodes_that_were_asked_for() {
        for (inodes, flat, chain) in
            [(1, 0, 0), (2, 10, 60), (1000, 250, 60), (100_000, 0, 0), (400_000, 10_000, 60)]
        {
            for seed in 0..5 {
                let root = Directory::root(seed, inodes, flat, chain);
                assert_eq!(measure(root).1, inodes, "{root:?}");
                assert_eq!(measure(root), measure(root));
            }
        }
    }

    #[test]
    fn it_is_skewed() {
        let (directories, _, deepest, largest) = measure(Directory::root(1, 400_000, 10_000, 60));
        assert!(deepest >= 61, "{deepest}");
        assert!(largest >= 9_999, "{largest}");
        assert!((8_000..40_000).contains(&directories), "{directories}");
    }
}
