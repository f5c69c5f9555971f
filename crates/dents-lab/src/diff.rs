//! Shows where two outputs differ.

use crate::process::Outcome;

/// Lines shown before the first that differs.
const CONTEXT: usize = 2;
/// Bytes shown of a long line, around the place where it differs.
const WINDOW: usize = 160;

/// The differences between two outcomes, or `None`.
pub fn outcomes(expected: &Outcome, actual: &Outcome) -> Option<String> {
    let mut report = String::new();
    if expected.end != actual.end {
        report.push_str(&format!("  ended {:?}, expected {:?}\n", actual.end, expected.end));
    }
    for (stream, want, have) in
        [("stdout", &expected.stdout, &actual.stdout), ("stderr", &expected.stderr, &actual.stderr)]
    {
        if let Some(text) = bytes(want, have) {
            report.push_str(&format!("  {stream}: {text}"));
        }
    }
    (!report.is_empty()).then_some(report)
}

/// The first difference between two byte strings, with the lines before it, or `None`.
pub fn bytes(expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let at = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    let start = expected[..at].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
    let number = expected[..start].iter().filter(|&&b| b == b'\n').count() + 1;
    let mut text = format!(
        "{} bytes, expected {}; first difference at byte {at}, line {number}, column {}\n",
        actual.len(),
        expected.len(),
        at - start + 1
    );
    let before: Vec<&[u8]> = expected[..start].split(|&b| b == b'\n').rev().skip(1).take(CONTEXT).collect();
    for line in before.iter().rev() {
        text.push_str(&format!("      {}\n", window(line, 0)));
    }
    text.push_str(&format!("    - {}\n", window(line_at(expected, start), at - start)));
    text.push_str(&format!("    + {}\n", window(line_at(actual, start), at - start)));
    Some(text)
}

/// The line from `start`, its newline included, so that a missing newline shows.
fn line_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = &bytes[start.min(bytes.len())..];
    let end = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |n| n + 1);
    &rest[..end]
}

fn window(line: &[u8], at: usize) -> String {
    let from = at.saturating_sub(WINDOW / 2);
    let to = line.len().min(from + WINDOW);
    let cut = |cut: bool| if cut { "…" } else { "" };
    let shown = &line[from.min(to)..to];
    format!("{}{}{}", cut(from > 0), shown.escape_ascii(), cut(to < line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_no_difference() {
        assert_eq!(bytes(b"a\nb\n", b"a\nb\n"), None);
    }

    #[test]
    fn the_first_difference_is_placed_and_shown_escaped() {
        let text = bytes(b"one\ntwo\nth\x1bree\n", b"one\ntwo\nth\x1brea\n").unwrap();
        assert!(text.contains("line 3, column 6"), "{text}");
        assert!(text.contains("- th\\x1bree\\n"), "{text}");
        assert!(text.contains("+ th\\x1brea\\n"), "{text}");
        assert!(text.contains("      one\n      two\n"), "{text}");
    }

    #[test]
    fn a_truncated_output_differs_at_its_end() {
        assert!(bytes(b"one\ntwo\n", b"one\n").unwrap().contains("4 bytes, expected 8"));
        assert!(bytes(b"", b"x").is_some());
        assert!(bytes(b"x\n", b"x").is_some());
    }
}
