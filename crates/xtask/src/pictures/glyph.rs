//! Outlines of icons. A page shows an SVG without the reader's fonts, so an icon that stayed text would be a box to most.
//!
//! `glyphs.tsv` has those that are in the pictures; `crates/xtask/tools/glyphs.py` takes them from a Nerd Font.

/// Lines of code point, name, path.
const GLYPHS: &str = include_str!("glyphs.tsv");

/// The private use areas, where Nerd Fonts have their icons.
pub(super) fn is_icon(char: char) -> bool {
    matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// The path of an SVG, in thousandths of an em from the left end of the base line.
pub(super) fn outline(icon: char) -> Option<&'static str> {
    let code = format!("{:x}", u32::from(icon));
    GLYPHS.lines().find_map(|line| line.strip_prefix(&code)?.strip_prefix('\t')?.split('\t').nth(1))
}

/// Their names in Nerd Fonts: the set, and the name in it.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GLYPHS.lines().filter_map(|line| line.split('\t').nth(1))
}

/// How to add icons that were left in a picture as text.
pub(super) fn lacking(picture: &str) -> Option<String> {
    let codes: Vec<String> =
        picture.chars().filter(|char| is_icon(*char)).map(|icon| format!("{:x}", u32::from(icon))).collect();
    let how = "crates/xtask/tools/glyphs.py says how to get them";
    (!codes.is_empty()).then(|| format!("glyphs.tsv has no outlines of {}; {how}", codes.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_icon_and_its_outline() {
        for line in GLYPHS.lines() {
            let code = line.split('\t').next().and_then(|code| u32::from_str_radix(code, 16).ok());
            let icon = code.and_then(char::from_u32).filter(|icon| is_icon(*icon)).expect(line);
            let path = outline(icon).expect(line);
            assert!(path.starts_with('M') && path.ends_with('Z'), "{line}");
        }
        assert_eq!(outline('\u{f8ff}'), None);
    }

    #[test]
    fn an_icon_without_an_outline_is_named() {
        assert_eq!(lacking("<text>a</text>"), None);
        assert!(lacking("a \u{f8ff} b").is_some_and(|told| told.contains("no outlines of f8ff;")));
    }
}
