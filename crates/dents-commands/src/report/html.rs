//! The page: a template with the style, the scripts and the data. The policy of the page (Content-Security-Policy) allows this style and
//! these scripts by their hashes, and nothing else.

use super::json;
use serde::Serialize;
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");
/// The layout of the treemap: see `vendor/README.md`.
const LAYOUT: &str = include_str!("vendor/d3-hierarchy/d3-hierarchy.min.js");
/// The licence of the layout, which goes wherever the layout goes.
const LICENCE: &str = include_str!("vendor/d3-hierarchy/LICENSE");
/// The hashes of the style and of the two scripts. `DLS_WRITE_DOCS=1 cargo test -p dents-commands --lib page` writes them.
const HASHES: &str = include_str!("assets/hashes.txt");

/// Writes the page.
pub(super) fn write(data: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut hashes = HASHES.lines();
    let [style, layout, script] = [(); 3].map(|()| hashes.next().unwrap_or_default());
    for (text, place) in pieces(TEMPLATE) {
        out.write_all(text.as_bytes())?;
        match place {
            "" => {}
            "STYLE" => out.write_all(STYLE.as_bytes())?,
            "LAYOUT" => out.write_all(LAYOUT.as_bytes())?,
            "SCRIPT" => out.write_all(SCRIPT.as_bytes())?,
            "LICENCE" => out.write_all(LICENCE.as_bytes())?,
            "STYLE-HASH" => out.write_all(style.as_bytes())?,
            "LAYOUT-HASH" => out.write_all(layout.as_bytes())?,
            "SCRIPT-HASH" => out.write_all(script.as_bytes())?,
            "DATA" => json::write(data, out)?,
            _ => return Err(io::Error::other("the template of the report has an unknown place")),
        }
    }
    Ok(())
}

/// The texts of the template, each with the name of the place `{{NAME}}` behind it.
fn pieces(template: &str) -> impl Iterator<Item = (&str, &str)> {
    template.split("}}").map(|piece| piece.split_once("{{").unwrap_or((piece, "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    fn dir() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report")
    }

    /// The SHA-256 of a text, in hexadecimal digits, from coreutils.
    fn sha256(text: &str) -> String {
        let pipes = |program: &mut Command| program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = pipes(&mut Command::new("sha256sum")).expect("sha256sum is there");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap()[..64].to_owned()
    }

    fn base64(hex: &str) -> String {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let mut text = Vec::new();
        dents_render::record::text::push_base64(&bytes, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_policy_allows_the_style_and_the_scripts_that_are_there() {
        let hash = |text| format!("sha256-{}\n", base64(&sha256(text)));
        let hashes: String = [STYLE, LAYOUT, SCRIPT].map(hash).concat();
        if std::env::var_os("DLS_WRITE_DOCS").is_some() {
            std::fs::write(dir().join("assets/hashes.txt"), &hashes).unwrap();
        }
        let written = std::fs::read_to_string(dir().join("assets/hashes.txt")).unwrap();
        assert_eq!(written, hashes, "DLS_WRITE_DOCS=1 cargo test -p dents-commands --lib page writes them");
    }

    #[test]
    fn vendored_files_are_unchanged() {
        let table = std::fs::read_to_string(dir().join("vendor/README.md")).unwrap();
        let rows: Vec<[&str; 2]> = table
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| `")?.split(['`', '|']).map(str::trim);
                Some([cells.next()?, cells.find(|cell| cell.len() == 64)?])
            })
            .collect();
        assert_eq!(rows.len(), 2, "a row for each file");
        for [file, sum] in rows {
            let text = std::fs::read_to_string(dir().join("vendor").join(file)).unwrap();
            assert_eq!(sha256(&text), sum, "{file}");
        }
    }

    #[test]
    fn no_script_ends_itself() {
        for text in [SCRIPT, LAYOUT] {
            assert!(!text.to_ascii_lowercase().contains("</script") && !text.contains("<!--"));
        }
        assert!(!STYLE.contains("</style"));
        let mut page = Vec::new();
        write(&"</script><b>", &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(r#""\u003c/script>\u003cb>""#) && !page.contains("{{"));
    }
}
