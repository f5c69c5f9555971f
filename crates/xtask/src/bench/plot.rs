//! Log-log plots as SVG.
//!
//! Written here rather than with a crate: the smallest with an SVG back end (plotters) is twenty times these lines,
//! and fixes its colours, where a style sheet inside the picture can follow the reader's light or dark page.

use std::fmt::Write as _;

use super::job::Job;
use super::measure::Conditions;
use super::results::{Figures, Key, Results};
use super::shape::Shape;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
/// The frame's edges; names of lines stand right of it.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 464.0;
/// Between two names.
const LINE: f64 = 17.0;

/// One line of a plot.
pub(crate) struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

/// A plot over the number of entries, both axes logarithmic.
pub(crate) struct Chart {
    title: String,
    unit: fn(f64) -> String,
    series: Vec<Series>,
}

/// The plots of a run, by file name: time for each file system, warm and cold; calls; memory.
pub(crate) fn charts(results: &Results) -> Vec<(String, Chart)> {
    let mut charts = Vec::new();
    let long = |key: &Key| key.shape == Shape::Plain && key.job == Job::Long;
    let warm = |key: &Key| long(key) && key.conditions == Conditions::default();
    let cold = |key: &Key| long(key) && key.conditions.cold && !key.conditions.one_core;
    let systems = results.systems();
    for fs in &systems {
        let here = |key: &Key| key.fs == *fs;
        charts.push((
            format!("time-{fs}.svg"),
            chart(&results.times, format!("-al of n plain files, {fs}, warm: time"), seconds, |k| {
                here(k) && warm(k)
            }),
        ));
        charts.push((
            format!("time-{fs}-cold.svg"),
            chart(&results.times, format!("-al of n plain files, {fs}, cold: time"), seconds, |k| {
                here(k) && cold(k)
            }),
        ));
    }
    let first = |key: &Key| systems.first() == Some(&key.fs.as_str()) && warm(key);
    charts.push((
        "calls.svg".into(),
        chart(&results.calls, "-al of n plain files: system calls".into(), plain, first),
    ));
    charts.push((
        "memory.svg".into(),
        chart(&results.memory, "-al of n plain files: peak memory".into(), kib, first),
    ));
    charts.retain(|(_, chart)| !chart.series.is_empty());
    charts
}

fn chart(figures: &Figures, title: String, unit: fn(f64) -> String, wanted: impl Fn(&Key) -> bool) -> Chart {
    let keys = figures.keys(wanted);
    let series = figures.programs(&keys).into_iter().map(|program| Series {
        name: program.into(),
        points: figures.line(&keys, program).into_iter().filter(|point| point.1 > 0.0).collect(),
    });
    Chart { title, unit, series: series.filter(|series| !series.points.is_empty()).collect() }
}

fn seconds(value: f64) -> String {
    match value {
        v if v < 0.999e-3 => format!("{:.0} µs", v * 1e6),
        v if v < 0.999 => format!("{:.0} ms", v * 1e3),
        v => format!("{v:.0} s"),
    }
}

fn kib(value: f64) -> String {
    if value < 999.0 { format!("{value:.0} KiB") } else { format!("{:.0} MiB", value / 1000.0) }
}

fn plain(value: f64) -> String {
    match value {
        v if v < 999.0 => format!("{v:.0}"),
        v if v < 999e3 => format!("{:.0} k", v / 1e3),
        v => format!("{:.0} M", v / 1e6),
    }
}

/// A logarithmic axis over whole decades.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let low = (least.log10() + 1e-9).floor() as i32;
        let high = ((most.log10() - 1e-9).ceil() as i32).max(low + 1);
        Axis { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10f64.powi(power))
    }
}

/// Both themes, and how each kind of line is drawn: ours strong, the floors dashed, the others by turns.
const STYLE: &str = "\
svg{--paper:#fff;--ink:#1f2328;--faint:#d8dee4;--ours:#0969da;--a:#cf222e;--b:#9a6700;--c:#1a7f37;--d:#8250df;--e:#bf3989;--f:#57606a}
@media (prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--faint:#30363d;--ours:#58a6ff;--a:#ff7b72;--b:#d29922;--c:#3fb950;--d:#bc8cff;--e:#f778ba;--f:#8b949e}}
text{font:13px system-ui,sans-serif;fill:var(--ink)}.title{font-size:16px;font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}
.grid{stroke:var(--faint);stroke-width:1}.line{fill:none;stroke-width:1.6}
.ours{stroke:var(--ours)}.auto{stroke-width:3.2}.classic{stroke-dasharray:2 3}.par{stroke-dasharray:7 3}.iou{stroke-dasharray:9 3 2 3}
.floor{stroke:var(--ink);stroke-dasharray:6 4}.a{stroke:var(--a)}.b{stroke:var(--b)}.c{stroke:var(--c)}.d{stroke:var(--d)}.e{stroke:var(--e)}.f{stroke:var(--f)}
.line.lead{stroke-width:.8;stroke-dasharray:none;opacity:.6}";

/// The classes of a line: its colour and its dashes.
fn class(name: &str, others: &mut usize) -> String {
    if let Some(mode) = name.strip_prefix("dls ") {
        return format!("ours {mode}");
    }
    if name.starts_with("floor") || name == "empty process" {
        return "floor".into();
    }
    let turn = ["a", "b", "c", "d", "e", "f"][*others % 6];
    *others += 1;
    turn.into()
}

impl Chart {
    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let all = self.series.iter().flat_map(|series| &series.points);
        let x = Axis::over(all.clone().map(|point| point.0), LEFT, RIGHT);
        let y = Axis::over(all.map(|point| point.1), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" style=\"fill:var(--paper)\"/>\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"28\">{title}</text>\n",
            title = escape(&self.title)
        );
        self.grid(&mut svg, &x, &y);
        self.lines(&mut svg, &x, &y);
        svg += "</svg>\n";
        svg
    }

    fn grid(&self, svg: &mut String, x: &Axis, y: &Axis) {
        for value in x.decades() {
            let at = x.at(value);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/>");
            let _ = writeln!(
                svg,
                "<text class=\"mid\" x=\"{at:.1}\" y=\"{}\">{}</text>",
                BOTTOM + 20.0,
                plain(value)
            );
        }
        for value in y.decades() {
            let at = y.at(value);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
            let unit = (self.unit)(value);
            let _ =
                writeln!(svg, "<text class=\"end\" x=\"{}\" y=\"{:.1}\">{unit}</text>", LEFT - 8.0, at + 4.0);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        let _ = writeln!(svg, "<text class=\"mid\" x=\"{middle}\" y=\"{}\">entries</text>", BOTTOM + 42.0);
    }

    /// Each line, and its name where it ends, names pushed apart so that none covers another.
    fn lines(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let mut ends = Vec::new();
        let mut others = 0;
        for series in &self.series {
            let class = class(&series.name, &mut others);
            let points: Vec<(f64, f64)> =
                series.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ = writeln!(svg, "<path class=\"line {class}\" d=\"M{}\"/>", path.join("L"));
            if let [(x, y)] = points[..] {
                let _ = writeln!(svg, "<circle class=\"line {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
            }
            ends.push((points[points.len() - 1], class, &series.name));
        }
        ends.sort_by(|one, other| one.0.1.total_cmp(&other.0.1));
        let wanted: Vec<f64> = ends.iter().map(|end| end.0.1).collect();
        for (((x, y), class, name), at) in ends.iter().zip(apart(&wanted, LINE, BOTTOM)) {
            let label = RIGHT + 26.0;
            let _ = writeln!(
                svg,
                "<path class=\"line lead {class}\" d=\"M{x:.1} {y:.1}L{} {at:.1}\"/>",
                label - 4.0
            );
            let _ = writeln!(svg, "<text x=\"{label}\" y=\"{:.1}\">{}</text>", at + 4.0, escape(name));
        }
    }
}

/// Moves ascending positions apart to at least `gap`, none below `last` if that can be.
fn apart(wanted: &[f64], gap: f64, last: f64) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::new();
    for &at in wanted {
        let free = placed.last().map_or(f64::NEG_INFINITY, |before| before + gap);
        placed.push(at.max(free));
    }
    let mut limit = last;
    for at in placed.iter_mut().rev() {
        *at = at.min(limit);
        limit = *at - gap;
    }
    placed
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element closed in order, no bare `&` or `<` in text or attributes.
    fn well_formed(xml: &str) -> bool {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = xml;
        while let Some((text, after)) = rest.split_once('<') {
            let Some((tag, next)) = after.split_once('>') else { return false };
            let whole = [text, tag].iter().all(|part| {
                part.split('&')
                    .skip(1)
                    .all(|entity| ["amp;", "lt;", "gt;", "quot;"].iter().any(|e| entity.starts_with(e)))
            });
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            let closes = tag.starts_with('/');
            if !whole
                || tag.contains('<')
                || tag.matches('"').count() % 2 == 1
                || (closes && open.pop() != Some(name))
            {
                return false;
            }
            if !closes && !tag.ends_with('/') {
                open.push(name);
            }
            rest = next;
        }
        open.is_empty() && rest.trim().is_empty()
    }

    #[test]
    fn pictures_are_well_formed() {
        let mut results = Results::default();
        for (count, factor) in [(10, 1.0), (1000, 5.0), (100_000, 900.0)] {
            let key = Key::warm("ext4", Shape::Plain, count, Job::Long);
            for (name, seconds) in
                [("floor", 1e-4), ("dls auto", 1.2e-4), ("a<b & \"c\"", 4e-4), ("none", 0.0)]
            {
                results.times.add(&key, name, seconds * factor);
            }
        }
        let charts = charts(&results);
        assert_eq!(charts.iter().map(|chart| chart.0.as_str()).collect::<Vec<_>>(), ["time-ext4.svg"]);
        let svg = charts[0].1.svg();
        assert!(well_formed(&svg), "{svg}");
        assert!(
            svg.contains("a&lt;b &amp; &quot;c&quot;") && svg.contains("100 k") && svg.contains("100 ms")
        );
        assert_eq!(svg.matches("class=\"line lead").count(), 3, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(!well_formed("<a><b></a>") && !well_formed("<a x=\"&\"/>"));
    }

    #[test]
    fn one_point_is_a_plot_too() {
        let mut results = Results::default();
        results.calls.add(&Key::warm("ext4", Shape::Plain, 10, Job::Long), "dls auto", 10.0);
        results.times.add(&Key::warm("ext4", Shape::Plain, 10, Job::Long), "dls auto", 1.0);
        let charts = charts(&results);
        assert_eq!(charts.len(), 2);
        let svg = charts[1].1.svg();
        assert!(well_formed(&svg) && svg.contains("<circle") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(apart(&[10.0, 11.0, 50.0], 5.0, 100.0), [10.0, 15.0, 50.0]);
        assert_eq!(apart(&[98.0, 99.0, 100.0], 5.0, 100.0), [90.0, 95.0, 100.0]);
    }
}
