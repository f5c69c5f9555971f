//! `disk IMAGE [--speed N] COMMAND…`: runs a command on a file system of a rotating disk in miniature; see its `--help`.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use dents_lab::disk::{Counts, Disk, SPEED};
use dents_lab::slowfs::fill_in;

const HELP: &str = "\
usage: disk IMAGE [--speed N] COMMAND [ARGUMENT]...

Mounts the file system in the file IMAGE, read-only, from a rotating disk in miniature, and runs COMMAND; {} in it
is the root of the file system. Nothing is in memory at first. Then prints to standard error what the disk has
done, and exits as COMMAND did.

  --speed N       N times as fast as a real disk of 7,200 turns per minute (10)
  --help          this text

The disk reads one request at a time, the nearest first. What follows the last read passes under the head
with 150 MB/s. A seek takes 1 ms, over the whole image 18 ms, between them as the root of the distance, and then
half a turn (4.2 ms). Needs root, FUSE and loop devices.
";

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match parse(&args).and_then(|(image, speed, command)| run(image, speed, command)) {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("disk: {why}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: &[OsString]) -> Result<(&Path, f64, &[OsString]), String> {
    let (image, rest) = args.split_first().ok_or("no IMAGE; see disk --help")?;
    let (speed, command) = match rest {
        [option, number, command @ ..] if option == "--speed" => {
            let number =
                number.to_str().and_then(|number| number.parse().ok()).filter(|number| *number > 0.0);
            (number.ok_or("--speed wants a number above 0")?, command)
        }
        command => (SPEED, command),
    };
    if command.is_empty() {
        return Err("no COMMAND; see disk --help".into());
    }
    Ok((Path::new(image), speed, command))
}

fn run(image: &Path, speed: f64, command: &[OsString]) -> Result<u8, String> {
    let disk = Disk::mount(image, speed)?;
    let words: Vec<OsString> = command.iter().map(|word| fill_in(word, disk.path().as_os_str())).collect();
    let (before, start) = (disk.counts(), Instant::now());
    let status = std::process::Command::new(&words[0]).args(&words[1..]).status();
    let status = status.map_err(|error| format!("{}: {error}", OsStr::new(&words[0]).display()))?;
    let elapsed = start.elapsed();
    let Counts { reads, bytes, seeks, distance, busy } = disk.counts() - before;
    eprintln!(
        "disk: {:.2} s busy at real speed, {:.2} s elapsed at {speed} times that; {reads} reads of {:.1} MB, {seeks} seeks over {:.1} GB; {status}",
        busy.as_secs_f64(),
        elapsed.as_secs_f64(),
        bytes as f64 / 1e6,
        distance as f64 / 1e9,
    );
    Ok(status.code().map_or(1, |code| code as u8))
}
