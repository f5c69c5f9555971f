//! The file that `--init` writes: every option that a file may have, generated from the table of flags.

use super::parse::can_be_default;
use crate::args::flags::{Arity, Definition, TABLE};
use alloc::string::String;

/// Columns of a comment.
const LINE: usize = 80;

/// Before the options.
const HEAD: &str = "\
# Default options of dls, one on each line, as on the command line. Options of the command line come
# after these and win. An option and its value are separated by = or a blank; the value extends to
# the end of the line.
#
# They take effect if dls writes to a terminal. A line that begins with `always` takes effect
# elsewhere too, but only if the environment variable DLS_CONFIG names this file.
# They never take effect if dls is called as ls, dir or vdir, or with --no-config.
#
# Remove the # before an option to use it.

--color=auto
#--group-directories-first
#always --si

# Colours of columns, and icons, as in the variables DLS_COLORS and DLS_ICONS; the variables win.
# Several lines add up.
#colors = header=1;4:size-g=31
#icons = *.rs=e7a8:README*=f02d
";

/// The file.
pub(super) fn text() -> String {
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(HEAD);
    for (group, definitions) in TABLE {
        let mut named = false;
        for definition in definitions.iter().filter(|definition| can_be_default(definition.flag)) {
            if !core::mem::replace(&mut named, true) {
                out.push_str("\n\n# ----- ");
                out.push_str(group.heading().trim_end_matches(':'));
                out.push_str(" -----\n");
            }
            option(&mut out, definition);
        }
    }
    out
}

/// The help, then the option.
fn option(out: &mut String, definition: &Definition) {
    out.push_str("\n#");
    let mut column = 1;
    for word in definition.help.split(' ') {
        if column + 1 + word.len() > LINE {
            out.push_str("\n#");
            column = 1;
        }
        out.push(' ');
        out.push_str(word);
        column += 1 + word.len();
    }
    out.push_str("\n#");
    match (definition.long, definition.letter) {
        (Some(long), _) => out.extend(["--", long]),
        (None, Some(letter)) => out.extend(['-', letter as char]),
        (None, None) => {}
    }
    let value = definition.value_name;
    match (definition.arity, definition.long) {
        (Arity::None, _) => {}
        (Arity::Required, None) => out.extend([" ", value]),
        (Arity::Required, Some(_)) => out.extend(["=", value]),
        (Arity::Optional, _) => out.extend(["[=", value, "]"]),
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use crate::args::Flag;
    use crate::args::flags::all;
    use std::vec::Vec;

    #[test]
    fn as_written_it_turns_colors_on() {
        let config = parse(text().into_bytes(), false);
        let flags: Vec<_> = config.said.iter().map(|said| (said.flag, said.value)).collect();
        assert_eq!(flags, [(Flag::Color, Some(&b"auto"[..]))]);
        assert!(config.mistakes.is_empty());
        assert!(text().len() < super::super::LIMIT);
        assert!(text().lines().all(|line| line.len() <= 100 && line.trim_end() == line && line.is_ascii()));
    }

    #[test]
    fn every_option_is_there_and_works_once_it_is_uncommented() {
        let text = text();
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#-")).collect();
        for definition in all().filter(|definition| can_be_default(definition.flag)) {
            let mut line = String::new();
            option(&mut line, definition);
            let line = line.lines().last().and_then(|line| line.strip_prefix("#-")).unwrap();
            assert!(lines.contains(&line), "{line}");
            if definition.arity == Arity::None {
                let config = parse(["-", line].concat().into_bytes(), false);
                let flags: Vec<_> = config.said.iter().map(|said| said.flag).collect();
                assert_eq!(flags, [definition.flag], "{line}");
            }
        }
    }
}
