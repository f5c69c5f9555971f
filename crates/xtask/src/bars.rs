//! Bars as SVG, one below the other: pictures that are drawn from the figures of a table, and cannot disagree with it.

/// Pixels. Of a row: its title, its bars, and a gap.
const WIDTH: i32 = 860;
const TITLE: i32 = 20;
const BAR: i32 = 22;
const GAP: i32 = 10;
/// Room for the texts beside the longest bar.
const BESIDE: i32 = 300;

/// The first bar of a row, and the others.
const OURS: &str = "#0969DA";
const FAINT: &str = "#D8DEE4";

/// The same colours for a dark page.
const DARK: &str = "<style>@media(prefers-color-scheme:dark){[fill=\"#FFFFFF\"]{fill:#0d1117}[fill=\"#1F2328\"]{fill:#e6edf3}\
                    [fill=\"#D8DEE4\"]{fill:#30363d}[fill=\"#0969DA\"]{fill:#58a6ff}}</style>";

/// What was done, and each program with its text and its figure.
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) bars: Vec<(String, f64)>,
}

/// The picture. The longest bar of each row has the same length, as the rows have different work.
pub(crate) fn svg(rows: &[Row]) -> String {
    let height = |row: &Row| TITLE + BAR * row.bars.len() as i32 + GAP;
    let all: i32 = rows.iter().map(height).sum::<i32>() + 8;
    let mut out = format!(
        "<svg width=\"{WIDTH}\" height=\"{all}\" viewBox=\"0 0 {WIDTH} {all}\" xmlns=\"http://www.w3.org/2000/svg\">\n{DARK}{}",
        rect(0, 0, WIDTH, all, "#FFFFFF")
    );
    let mut top = 8;
    for row in rows {
        out += &text(8, top, &row.work);
        let longest = row.bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
        for (nth, (label, figure)) in row.bars.iter().enumerate() {
            let length = (f64::from(WIDTH - BESIDE) * figure / longest) as i32;
            let at = top + TITLE + BAR * nth as i32;
            out += &rect(8, at, length.max(2), BAR - 4, if nth == 0 { OURS } else { FAINT });
            out += &text(16 + length, at + 2, label);
        }
        top += height(row);
    }
    out + "</svg>\n"
}

fn rect(x: i32, y: i32, width: i32, height: i32, fill: &str) -> String {
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>\n")
}

fn text(x: i32, y: i32, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<text x=\"{x}\" y=\"{y}\" dy=\"0.76em\" font-family=\"system-ui,sans-serif\" font-size=\"12.1\" fill=\"#1F2328\">{text}</text>\n"
    )
}

#[test]
fn bars_are_drawn_to_the_scale_of_their_row() {
    let row = |work: &str, figures: &[f64]| Row {
        work: work.into(),
        bars: figures.iter().map(|figure| (format!("x<{figure}"), *figure)).collect(),
    };
    let svg = svg(&[row("a", &[1200.0, 2400.0]), row("b", &[0.5, 1.0, 0.1])]);
    for part in ["height=\"178\"", "width=\"280\"", "width=\"560\"", "width=\"56\"", "x&lt;0.1", "<style>"] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}
