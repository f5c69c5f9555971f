//! Log-log plots as SVG: of the bench, and of `cargo xtask simulate`.

use plotters::prelude::*;

use super::directories::Shape;
use super::job::Job;
use super::measure::Conditions;
use super::results::{Figures, Key, Results};

const WIDTH: u32 = 860;
const HEIGHT: u32 = 520;
/// Room for the names of lines, at the right.
const NAMES: u32 = 170;
/// The lowest name.
const BOTTOM: f64 = 460.0;
/// Between two names.
const LINE: f64 = 17.0;

/// One line of a plot.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A plot, both axes logarithmic.
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What the horizontal axis is.
    pub(crate) over: &'static str,
    pub(crate) unit: fn(f64) -> String,
    pub(crate) series: Vec<Series>,
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
    Chart {
        title,
        over: "entries",
        unit,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    }
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

pub(crate) fn plain(value: f64) -> String {
    match value {
        v if v < 999.0 => format!("{v:.0}"),
        v if v < 999e3 => format!("{:.0} k", v / 1e3),
        v => format!("{:.0} M", v / 1e6),
    }
}

/// Whole decades around `values`.
fn decades(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let low = (values.clone().fold(f64::INFINITY, f64::min).log10() + 1e-9).floor();
    let high = (values.fold(0.0, f64::max).log10() - 1e-9).ceil();
    // A trifle wider, or rounding leaves out the marks at the ends.
    10f64.powf(low) * (1.0 - 1e-9)..10f64.powf(high.max(low + 1.0)) * (1.0 + 1e-9)
}

pub(crate) const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
pub(crate) const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
pub(crate) const FAINT: RGBColor = RGBColor(0xd8, 0xde, 0xe4);
pub(crate) const OURS: RGBColor = RGBColor(0x09, 0x69, 0xda);
const OTHERS: [RGBColor; 6] = [
    RGBColor(0xcf, 0x22, 0x2e),
    RGBColor(0x9a, 0x67, 0x00),
    RGBColor(0x1a, 0x7f, 0x37),
    RGBColor(0x82, 0x50, 0xdf),
    RGBColor(0xbf, 0x39, 0x89),
    RGBColor(0x57, 0x60, 0x6a),
];

/// The same colours for a dark page.
const DARK: &str = "<style>@media(prefers-color-scheme:dark){\
[fill=\"#FFFFFF\"]{fill:#0d1117}[fill=\"#1F2328\"]{fill:#e6edf3}[stroke=\"#1F2328\"]{stroke:#e6edf3}[stroke=\"#D8DEE4\"]{stroke:#30363d}\
[stroke=\"#0969DA\"]{stroke:#58a6ff}[stroke=\"#CF222E\"]{stroke:#ff7b72}[stroke=\"#9A6700\"]{stroke:#d29922}\
[stroke=\"#1A7F37\"]{stroke:#3fb950}[stroke=\"#8250DF\"]{stroke:#bc8cff}[stroke=\"#BF3989\"]{stroke:#f778ba}\
[stroke=\"#57606A\"]{stroke:#8b949e}}</style>";

/// The colour of a line, its width, and its dashes, if any: ours strong, the floors dashed, the others by turns.
fn look(name: &str, others: &mut usize) -> (RGBColor, u32, Option<(u32, u32)>) {
    match name.strip_prefix("dls ") {
        Some("auto") => (OURS, 3, None),
        Some("classic") => (OURS, 2, Some((2, 3))),
        Some("par") => (OURS, 2, Some((7, 3))),
        Some(_) => (OURS, 2, Some((12, 3))),
        None if name.starts_with("floor") || name == "empty process" => (INK, 2, Some((6, 4))),
        None => {
            *others += 1;
            (OTHERS[(*others - 1) % OTHERS.len()], 2, None)
        }
    }
}

impl Chart {
    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let mut svg = String::new();
        self.draw(&mut svg).expect("a string takes every picture");
        // After the opening tag: the style for dark pages.
        let begin = svg.find("<rect").unwrap_or(svg.len());
        svg.insert_str(begin, DARK);
        svg
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&PAPER)?;
        let font = ("system-ui,sans-serif", 16).into_font().color(&INK);
        let all = self.series.iter().flat_map(|series| &series.points);
        let x = decades(all.clone().map(|point| point.0));
        let y = decades(all.map(|point| point.1));
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, ("system-ui,sans-serif", 20).into_font().color(&INK))
            .margin(8)
            .margin_right(NAMES)
            .x_label_area_size(50)
            .y_label_area_size(70)
            .build_cartesian_2d(x.log_scale(), y.log_scale())?;
        chart
            .configure_mesh()
            .bold_line_style(FAINT)
            .light_line_style(TRANSPARENT)
            .axis_style(FAINT)
            .label_style(font.clone())
            .x_desc(self.over)
            .x_label_formatter(&|value| plain(*value))
            .y_label_formatter(&|value| (self.unit)(*value))
            .draw()?;
        let mut ends = Vec::new();
        let mut others = 0;
        for series in &self.series {
            let (color, width, dashes) = look(&series.name, &mut others);
            let style = color.stroke_width(width);
            let points = series.points.iter().copied();
            match dashes {
                Some((long, gap)) => {
                    chart.draw_series(DashedLineSeries::new(points, long, gap, style))?;
                }
                None => {
                    chart.draw_series(LineSeries::new(points, style))?;
                }
            }
            if let [point] = series.points[..] {
                chart.draw_series([Circle::new(point, 3, style)])?;
            }
            ends.push((chart.backend_coord(&series.points[series.points.len() - 1]), color, &series.name));
        }
        // Each name where its line ends, pushed apart so that none covers another.
        ends.sort_by_key(|end| end.0.1);
        let wanted: Vec<f64> = ends.iter().map(|end| f64::from(end.0.1)).collect();
        for ((end, color, name), at) in ends.iter().zip(apart(&wanted, LINE, BOTTOM)) {
            let label = ((WIDTH - NAMES + 26) as i32, at as i32);
            root.draw(&PathElement::new([*end, (label.0 - 4, label.1)], color.stroke_width(1)))?;
            root.draw(&Text::new(name.as_str(), (label.0, label.1 - 8), font.clone()))?;
        }
        root.present()?;
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_its_lines_names_and_units() {
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
        for text in ["a&lt;b &amp; &quot;c&quot;", "dls auto", "floor", "100 k", "100 ms", "<style>"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("none\n</text>"), "{svg}");
    }

    #[test]
    fn one_point_is_a_plot_too() {
        let mut results = Results::default();
        results.calls.add(&Key::warm("ext4", Shape::Plain, 10, Job::Long), "dls auto", 10.0);
        results.times.add(&Key::warm("ext4", Shape::Plain, 10, Job::Long), "dls auto", 1.0);
        let charts = charts(&results);
        assert_eq!(charts.len(), 2);
        let svg = charts[1].1.svg();
        assert!(svg.contains("<circle") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(apart(&[10.0, 11.0, 50.0], 5.0, 100.0), [10.0, 15.0, 50.0]);
        assert_eq!(apart(&[98.0, 99.0, 100.0], 5.0, 100.0), [90.0, 95.0, 100.0]);
    }
}
