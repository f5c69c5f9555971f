//! The conversions of printf(3) that Rust has no format for.

use super::Shape;

/// `%g`: significant digits without zeros at the end; with an exponent where that is shorter.
pub(super) fn general(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return format!("{value}").to_ascii_lowercase();
    }
    let digits = precision.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A number that is not negative: at least `precision` digits, a sign if the shape has one, padded with zeros or blanks
/// to the width.
pub(super) fn number(digits: &str, signed: bool, shape: &Shape, out: &mut Vec<u8>) {
    let sign = match (signed, shape.plus, shape.blank) {
        (true, true, _) => "+",
        (true, _, true) => " ",
        _ => "",
    };
    let zeros = match shape.precision {
        Some(precision) => precision.saturating_sub(digits.len()),
        None if shape.zeros && !shape.left => shape.width.saturating_sub(digits.len() + sign.len()),
        None => 0,
    };
    let blanks = shape.width.saturating_sub(sign.len() + zeros + digits.len());
    let pad = |out: &mut Vec<u8>, byte, count| out.resize(out.len() + count, byte);
    if !shape.left {
        pad(out, b' ', blanks);
    }
    out.extend_from_slice(sign.as_bytes());
    pad(out, b'0', zeros);
    out.extend_from_slice(digits.as_bytes());
    if shape.left {
        pad(out, b' ', blanks);
    }
}

/// A text: cut off at the precision, padded with blanks to the width.
pub(super) fn text(text: &[u8], shape: &Shape, out: &mut Vec<u8>) {
    let text = &text[..shape.precision.map_or(text.len(), |most| most.min(text.len()))];
    let blanks = shape.width.saturating_sub(text.len());
    if !shape.left {
        out.resize(out.len() + blanks, b' ');
    }
    out.extend_from_slice(text);
    if shape.left {
        out.resize(out.len() + blanks, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printf(1) has them.
    #[test]
    fn general_numbers() {
        for (value, precision, expected) in [
            (1365.3333, 6, "1365.33"),
            (1365.3333, 2, "1.4e+03"),
            (1.0, 6, "1"),
            (0.0, 6, "0"),
            (0.5, 6, "0.5"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (999_999.5, 6, "1e+06"),
            (4096.0, 0, "4e+03"),
            (f64::INFINITY, 6, "inf"),
        ] {
            assert_eq!(general(value, precision), expected);
        }
    }

    #[test]
    fn shapes() {
        let shown = |shape: Shape| {
            let mut out = Vec::new();
            number("7", true, &shape, &mut out);
            text(b"abc", &shape, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let shape = Shape { width: 4, ..Shape::default() };
        assert_eq!(shown(shape), "   7 abc");
        assert_eq!(shown(Shape { left: true, zeros: true, ..shape }), "7   abc ");
        assert_eq!(shown(Shape { zeros: true, plus: true, ..shape }), "+007 abc");
        assert_eq!(shown(Shape { precision: Some(2), ..shape }), "  07  ab");
    }
}
