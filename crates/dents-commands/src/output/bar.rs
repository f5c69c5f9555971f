//! A share of the whole: as a percentage, and as a bar.

/// Eighths of a cell, the last of which is the whole one.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The share of a part in the whole, in per mille, rounded to the nearest; 0 if the whole is 0.
fn per_mille(part: u128, whole: u128) -> u128 {
    if whole == 0 {
        return 0;
    }
    // A thousand times a sum of sizes fits into 128 bits.
    part.saturating_mul(1000).saturating_add(whole / 2) / whole
}

/// ` 12.3%`: always one decimal, so that the points are aligned.
pub fn percent(part: u128, whole: u128) -> String {
    let share = per_mille(part, whole);
    format!("{}.{}%", share / 10, share % 10)
}

/// A bar; the whole has this many columns. A part greater than 0 is always visible.
pub fn bar(part: u128, whole: u128, columns: usize, utf8: bool) -> String {
    let steps = if utf8 { 8 } else { 1 };
    let most = (columns * steps) as u128;
    let length = match whole {
        0 => 0,
        _ => (part.saturating_mul(most) / whole).max(u128::from(part > 0)).min(most) as usize,
    };
    let mut text = String::new();
    for _ in 0..length / steps {
        text.push(if utf8 { '█' } else { '#' });
    }
    if length % steps > 0 {
        text.push(EIGHTHS[length % steps - 1]);
    }
    let filled = length.div_ceil(steps);
    text.extend(std::iter::repeat_n(' ', columns - filled));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_the_nearest() {
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(percent(2, 3), "66.7%");
        assert_eq!(percent(0, 0), "0.0%");
        assert_eq!(percent(21 << 60, 42 << 60), "50.0%");
    }

    #[test]
    fn bars_have_the_width_they_were_given() {
        for utf8 in [false, true] {
            for part in 0..=100 {
                assert_eq!(bar(part, 100, 13, utf8).chars().count(), 13, "{part}");
            }
        }
        assert_eq!(bar(1, 1_000_000, 4, true), "▏   ");
        assert_eq!(bar(1, 1_000_000, 4, false), "#   ");
        assert_eq!(bar(0, 10, 4, true), "    ");
        assert_eq!(bar(5, 8, 1, true), "▋");
        assert_eq!(bar(7, 7, 3, false), "###");
        assert_eq!(bar(9, 0, 2, true), "  ");
    }
}
