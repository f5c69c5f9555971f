//! `dls` on hostile file systems: it ends, with a message, in bounded memory.

use dents_lab::hostile::check_all;
use dents_lab::process::Run;
use dents_lab::slowfs::Mounted;
use dents_lab::suite::checked;

const OPTIONS: [&str; 16] = [
    "-a",
    "-l",
    "-lR --color=always",
    "-1U -F",
    "-lt --timeout=300ms",
    "-R --timeout=300ms",
    "--tree",
    "--tree -l --timeout=300ms",
    "-l --total-size",
    "-l --git",
    "--top=5 -lS",
    "--json -l",
    "--csv -lR",
    "-Rl --mode=iou",
    "-lR --mode=par",
    "--count -R",
];

#[test]
fn dls_on_hostile_file_systems() {
    let commands = |mounted: &Mounted| -> Vec<Run> {
        let run = |options: &&str| Run::new(checked().path()).args(options.split(' ')).args([mounted.path()]);
        OPTIONS.iter().map(run).collect()
    };
    check_all(&commands);
}
