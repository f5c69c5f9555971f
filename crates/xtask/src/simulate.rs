//! `cargo xtask simulate`: the tables and plots of `docs/SIMULATION.md`, from the simulation in `dents-lab`.

use std::collections::BTreeMap;
use std::fs;

use crate::bench::plot::{Chart, Series, plain};
use crate::step::{Result, cargo, workspace};

/// The tables stand between these lines of the page.
const BEGIN: &str = "<!-- written by cargo xtask simulate -->\n";
const END: &str = "<!-- end -->\n";

/// Groups of cases: the first word of their names, what is varied, and the title of the plot.
const GROUPS: [(&str, &str, &str); 4] = [
    ("clients", "clients", "time of a scan, by clients and the server's requests per second"),
    ("budget", "entries in a task's budget", "time of a scan by 16 clients, by the budget of a task"),
    ("tasks", "tasks in flight per client", "time of a scan by 16 clients, by tasks in flight"),
    ("lifetime", "seconds between deaths of a client", "time of a scan by 16 clients that die"),
];

pub(crate) fn run() -> Result<()> {
    let mut simulate = cargo(["run", "--release", "--quiet", "--package", "dents-lab", "--bin", "simulate"]);
    let output =
        simulate.stderr(std::process::Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("simulate: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let plots = workspace().join("docs/simulation");
    fs::create_dir_all(&plots).map_err(|error| error.to_string())?;
    let mut tables = String::new();
    for (group, over, title) in GROUPS {
        let lines: Vec<&[&str]> =
            lines.iter().map(Vec::as_slice).filter(|line| line[0].split(' ').next() == Some(group)).collect();
        let path = plots.join(format!("{group}.svg"));
        fs::write(&path, chart(&lines, over, title)?.svg())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        tables +=
            &format!("### By {over}\n\n![{title}](simulation/{group}.svg)\n\n{}\n", table(&lines, over)?);
    }
    let path = workspace().join("docs/SIMULATION.md");
    let page = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let page = between(&page, &tables).ok_or("docs/SIMULATION.md has no place for the tables")?;
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

/// The page with other tables.
fn between(page: &str, tables: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{tables}{END}{after}"))
}

fn number(word: &str) -> Result<f64> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

fn chart(lines: &[&[&str]], over: &'static str, title: &str) -> Result<Chart> {
    if lines.is_empty() {
        return Err(format!("simulate printed no case for {over}"));
    }
    let mut series: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for line in lines {
        series.entry(line[0]).or_default().push((number(line[1])?, number(line[2])?));
    }
    let series = series.into_iter().map(|(name, points)| Series { name: label(name).into(), points });
    Ok(Chart { title: title.into(), over, unit: time, series: series.collect() })
}

fn table(lines: &[&[&str]], over: &str) -> Result<String> {
    let mut table = format!(
        "| case | {over} | time | idle | requests | of these lost | tasks | deaths | waiting directories | ranges |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for line in lines {
        let [name, x, seconds, idle, requests, lost, tasks, deaths, waiting, ranges] = *line else {
            return Err(format!("a line of simulate has {} fields", line.len()));
        };
        let (idle, lost_share) = (number(idle)? * 100.0, number(lost)? / number(requests)? * 100.0);
        table += &format!(
            "| {} | {} | {} | {idle:.0} % | {} | {lost_share:.1} % | {tasks} | {deaths} | {} | {ranges} |\n",
            label(name),
            plain(number(x)?),
            time(number(seconds)?),
            plain(number(requests)?),
            plain(number(waiting)?),
        );
    }
    Ok(table)
}

/// The name of a case within its group.
fn label(name: &str) -> &str {
    name.split_once(' ').map_or(name, |(_, label)| label)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 600.0 => format!("{s:.0} s"),
        s if s < 36_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "clients 1 M/s\t16\t7200.4\t0.25\t900000000\t9000000\t420\t3\t12000\t7";

    #[test]
    fn a_line_becomes_a_row_and_a_point() {
        let line: Vec<&str> = LINE.split('\t').collect();
        let row = table(&[&line], "clients").unwrap();
        assert!(
            row.ends_with("| 1 M/s | 16 | 120 min | 25 % | 900 M | 1.0 % | 420 | 3 | 12 k | 7 |\n"),
            "{row}"
        );
        let svg = chart(&[&line], "clients", "title").unwrap().svg();
        assert!(svg.contains("1 M/s") && svg.contains("clients"), "{svg}");
        assert!(table(&[&line[..4]], "clients").is_err());
        assert!(chart(&[], "clients", "title").is_err(), "plotters searches for marks without end");
    }

    #[test]
    fn the_rest_of_the_page_stays() {
        let page = format!("before\n{BEGIN}old\n{END}after\n");
        let new = between(&page, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n{END}after\n"));
        assert_eq!(between("no place", "new"), None);
    }
}
