//! Makes the tree that walks are measured on: `hierarchy DIR [DIRECTORIES [FILES [SEED]]]`.
//!
//! It is like a source tree or a home directory: most directories are leaves with a few dozen files,
//! some hold hundreds, a few thousands; names are 4 to 20 bytes; files are empty or a few KiB (sparse, so that the disk
//! holds none of it). By default 12,000 directories and 400,000 files, and always the same ones.

use dents_lab::rng::Rng;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| match args.get(index).map(|arg| arg.parse::<u64>()) {
        None => Ok(default),
        Some(Ok(number)) => Ok(number),
        Some(Err(_)) => Err(format!("{:?} is not a number", args[index])),
    };
    let run = || -> Result<(), String> {
        let root = args.first().ok_or("usage: hierarchy DIR [DIRECTORIES [FILES [SEED]]]")?;
        let (directories, files, seed) = (number(1, 12_000)?, number(2, 400_000)?, number(3, 1)?);
        make(Path::new(root), directories as usize, files as usize, seed)
            .map_err(|error| format!("{root}: {error}"))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hierarchy: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make(root: &Path, directories: usize, files: usize, seed: u64) -> io::Result<()> {
    let mut rng = Rng::new(seed);
    let mut made = vec![root.to_path_buf()];
    fs::create_dir_all(root)?;
    while made.len() < directories {
        let parent = parent(&made, &mut rng);
        // Siblings come in groups, or no directory would have more than a few.
        for _ in 0..1 + rng.below(12) {
            let path = made[parent].join(format!("d{:x}{}", made.len(), name(&mut rng)));
            fs::create_dir(&path)?;
            made.push(path);
        }
    }
    fill(&made, files, &mut rng)
}

/// Half of the groups go below one of the directories made last: that makes depth.
fn parent(made: &[PathBuf], rng: &mut Rng) -> usize {
    let window = if rng.one_in(2) { made.len() } else { made.len().min(40) };
    made.len() - 1 - rng.below(window)
}

fn fill(made: &[PathBuf], files: usize, rng: &mut Rng) -> io::Result<()> {
    let mut left = files;
    for (index, directory) in made.iter().enumerate() {
        let mean = left / (made.len() - index);
        let count = match rng.below(100) {
            0 => mean * 20,
            1..10 => mean * 3,
            10..60 => mean / 2,
            _ => mean,
        };
        let count = if index + 1 == made.len() { left } else { count.min(left) };
        for number in 0..count {
            let file = File::create(directory.join(format!("{number}{}", name(rng))))?;
            if !rng.one_in(4) {
                file.set_len(rng.below(20_000) as u64)?;
            }
        }
        left -= count;
    }
    Ok(())
}

fn name(rng: &mut Rng) -> String {
    const ENDS: [&str; 8] = ["", "", ".c", ".h", ".txt", ".o", ".jpeg", "_test.py"];
    let letters = 2 + rng.below(10);
    let stem: String = (0..letters).map(|_| char::from(b'a' + rng.below(26) as u8)).collect();
    stem + *rng.pick(&ENDS)
}
