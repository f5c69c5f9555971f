//! `RESULTS.md`: the machine, the verdict, the promises, then every table.

use super::directories::Shape;
use super::job::Job;
use super::machine::{self, Machine};
use super::measure::Conditions;
use super::noise::Noise;
use super::plot;
use super::promises::{self, Row};
use super::results::{Figures, Key, Results};
use super::setup::Setup;

/// The whole page.
pub(crate) fn page(
    setup: &Setup,
    results: &Results,
    rows: &[Row],
    noise: &Noise,
    complaints: &[String],
) -> String {
    let mut text = String::from(
        "# Results\n\nWritten by `cargo xtask bench`; [PERFORMANCE.md](../PERFORMANCE.md) says how to read and repeat it.\n\n",
    );
    text += &format!("**{}**\n\n", verdict(complaints));
    text += &head(setup, noise);
    text +=
        &format!("\n## Must show\n\n`dls` in its own choice of mode, medians.\n\n{}", promises::table(rows));
    for (name, _) in plot::charts(results) {
        text += &format!("\n![{}]({name})\n", name.trim_end_matches(".svg"));
    }
    text += &headline(results);
    text += &others(results);
    text +=
        &counted("System calls, `-al` of plain files", CALLS, &results.calls, |calls| format!("{calls:.0}"));
    text += &counted("Peak memory, `-al` of plain files, MiB", MEMORY, &results.memory, |kib| {
        format!("{:.1}", kib / 1024.0)
    });
    if !results.notes.is_empty() {
        text += "\n## Left out\n\n";
        for note in &results.notes {
            text += &format!("- {}\n", note.lines().next().unwrap_or_default());
        }
    }
    text
}

const CALLS: &str = "Lines of `strace -f`, from `execve` to `exit_group`; what a ring carries is not a call.";
const MEMORY: &str = "`ru_maxrss` of the process, output thrown away.";

/// One sentence on whether the run may be trusted.
pub(crate) fn verdict(complaints: &[String]) -> String {
    match complaints {
        [] => "The machine was quiet: this run may be trusted.".into(),
        _ => format!("NOT TO BE TRUSTED, the machine was too noisy: {}.", complaints.join("; ")),
    }
}

fn head(setup: &Setup, noise: &Noise) -> String {
    let Machine { cpu, cores, memory_gib, kernel } = Machine::here();
    let (least, greatest) = noise.empty();
    let systems: Vec<&str> = setup.systems.iter().map(|system| system.fs.as_str()).collect();
    let mut rows = vec![
        ("machine", format!("{cores} cores, {cpu}; {memory_gib} GiB")),
        ("kernel", format!("Linux {kernel}")),
        ("file systems", systems.join(", ")),
        ("date", machine::date()),
        ("sources", format!("{}, {}", machine::revision(), machine::compiler())),
        ("load average before", format!("{:.2}; after {:.2}", noise.load(), machine::load())),
        ("empty static process", format!("{:.0} to {:.0} µs over the run", least * 1e6, greatest * 1e6)),
    ];
    let named = [&setup.gnu, setup.auto()].into_iter().chain(&setup.peers);
    rows.extend(named.map(|program| (program.name.as_str(), program.version.clone())));
    let lines = rows.iter().map(|(name, value)| format!("| {name} | {} |\n", value.replace('|', "/")));
    lines.fold("| | |\n|---|---|\n".to_string(), |text, line| text + &line)
}

/// `-al` of plain files, a table for each file system and circumstance.
fn headline(results: &Results) -> String {
    let mut text = String::new();
    let wanted = |key: &Key| key.shape == Shape::Plain && key.job == Job::Long;
    let mut groups: Vec<(String, Conditions)> =
        results.times.keys(wanted).iter().map(|key| (key.fs.clone(), key.conditions)).collect();
    groups.sort_by_key(|(fs, conditions)| (fs.clone(), conditions.cold, conditions.one_core));
    groups.dedup();
    for (fs, conditions) in groups {
        let keys = results.times.keys(|key| wanted(key) && key.fs == fs && key.conditions == conditions);
        text += &format!("\n## `-al` of plain files, {fs}, {}\n\nMilliseconds.\n\n", conditions.name());
        text += &by_count(&results.times, &keys, |key, program| {
            results.times.get(key, program).map(milliseconds)
        });
        text += "\nTimes GNU `ls` / times the floor.\n\n";
        text += &by_count(&results.times, &keys, |key, program| {
            let gnu = results.times.ratio(key, program, "GNU ls")?;
            let floor = results.times.ratio(key, program, "floor");
            Some(format!("{gnu:.2} / {}", floor.map_or("–".into(), |floor| format!("{floor:.2}"))))
        });
    }
    text
}

/// Programs down, counts across.
fn by_count(figures: &Figures, keys: &[&Key], cell: impl Fn(&Key, &str) -> Option<String>) -> String {
    let counts: Vec<String> = keys.iter().map(|key| format!(" {} |", thousands(key.count))).collect();
    let mut text = format!("| |{}\n|---|{}\n", counts.concat(), "--:|".repeat(keys.len()));
    for program in figures.programs(keys) {
        text += &format!("| {program} |");
        for key in keys {
            text += &format!(" {} |", cell(key, program).unwrap_or("–".into()));
        }
        text.push('\n');
    }
    text
}

/// All results except `-al` of plain files, a line for each program.
fn others(results: &Results) -> String {
    let wanted = |key: &Key| key.shape != Shape::Plain || key.job != Job::Long;
    let keys = results.times.keys(wanted);
    if keys.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Other listings, warm, all cores\n\n");
    text += "| listing | on | program | ms | × GNU | MiB |\n|---|---|---|--:|--:|--:|\n";
    for key in keys {
        let listing = format!("`{}`, {} ({})", key.job.name(), thousands(key.count), key.shape.name());
        for program in results.times.programs(&[key]) {
            let dash = || "–".to_string();
            let time = results.times.get(key, program).map_or_else(dash, milliseconds);
            let gnu =
                results.times.ratio(key, program, "GNU ls").map_or_else(dash, |gnu| format!("{gnu:.2}"));
            let mib =
                results.memory.get(key, program).map_or_else(dash, |kib| format!("{:.1}", kib / 1024.0));
            text += &format!("| {listing} | {} | {program} | {time} | {gnu} | {mib} |\n", key.fs);
        }
    }
    text
}

fn counted(title: &str, how: &str, figures: &Figures, show: fn(f64) -> String) -> String {
    let all = figures.keys(|key| key.shape == Shape::Plain && key.job == Job::Long);
    let Some(first) = all.first() else { return String::new() };
    let keys: Vec<&Key> = all.iter().copied().filter(|key| key.fs == first.fs).collect();
    let table = by_count(figures, &keys, |key, program| figures.get(key, program).map(show));
    format!("\n## {title}\n\n{how}\n\n{table}")
}

/// Three digits that count.
pub(crate) fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        ms if ms < 10.0 => format!("{ms:.3}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// `1,000,000`
pub(crate) fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(["0.285", "14.4", "416"], [0.000285, 0.0144, 0.416].map(milliseconds));
        assert_eq!(["10", "1,000", "1,000,000"], [10, 1000, 1_000_000].map(thousands));
    }

    #[test]
    fn tables_have_a_cell_for_every_count() {
        let mut results = Results::default();
        let key = |count| Key::warm("ext4", Shape::Plain, count, Job::Long);
        results.times.add(&key(10), "GNU ls", 0.001);
        results.times.add(&key(1000), "GNU ls", 0.004);
        results.times.add(&key(1000), "dls auto", 0.001);
        let text = headline(&results);
        assert!(text.contains("| dls auto | – | 1.000 |"), "{text}");
        assert!(text.contains("| dls auto | – | 0.25 / – |"), "{text}");
    }

    #[test]
    fn noise_is_said_first() {
        assert!(verdict(&[]).contains("may be trusted"));
        assert!(verdict(&["others built".into()]).starts_with("NOT TO BE TRUSTED"));
    }
}
