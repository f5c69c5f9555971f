//! Fuzz target of the file of options.

use super::parse::parse;
use crate::locale::Language;

/// A file of options: the accepted lines are in the file, mistakes are few and name their line, and no message has a
/// control character except tab.
pub fn config(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let language = Language::english(dents_locale::Charset::Ascii);
    for only_always in [false, true] {
        let config = parse(bytes.to_vec(), only_always);
        for (line, content) in &config.used {
            assert!((1..=lines).contains(line) && !content.contains(&b'\n'));
            assert!(bytes.windows(content.len().max(1)).any(|part| part == *content));
        }
        // The parser stops after ten.
        assert!(config.mistakes.len() <= 10);
        for mistake in &config.mistakes {
            assert!((1..=lines).contains(&mistake.line));
            let message = mistake.what.message(b"dls: f:1", &language);
            let text = message.strip_suffix(b"\n").expect("it ends its line");
            let plain = |byte: &u8| b"\n\t".contains(byte) || !byte.is_ascii_control();
            assert!(text.iter().all(plain), "{}", text.escape_ascii());
        }
    }
}
