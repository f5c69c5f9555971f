//! `completions/dls.bash`: complete in itself, the bash-completion package is not needed.

use super::files::{MARK, Value, options, spellings};

/// The part that `dls` and `dents` share.
const FRAME: &str = include_str!("frame.bash");

pub(super) fn script() -> String {
    let needing = || options().filter(|option| option.arity == dls::args::flags::Arity::Required);
    let letters: String = needing().filter_map(|option| option.letter.map(char::from)).collect();
    let required: Vec<String> =
        needing().filter_map(|option| option.long.map(|long| format!("--{long}"))).collect();
    let frame = FRAME
        .replace("@PROGRAM@", "dls")
        .replace("@COMMANDS@", "''")
        .replace("@LETTERS@", &letters)
        .replace("@REQUIRED@", &required.join(" | "))
        .replace("@VALUES@", &values())
        .replace("@OPTIONS@", &format!("            ,-*) words='{}' ;;", names()));
    format!("# bash completion for dls.\n# {MARK}\n{frame}")
}

/// A branch for each option with a value.
fn values() -> String {
    let branch = |option| {
        let action = match Value::of(option) {
            Value::None => return None,
            Value::Words(words) => format!("words='{}'", words.join(" ")),
            Value::List(words) => format!("words='{}' list=1", words.join(" ")),
            Value::Files => "return".into(),
            Value::Free => "compopt +o bashdefault +o default 2>/dev/null; return".into(),
        };
        let spellings: Vec<String> =
            spellings(option).iter().map(|spelling| format!("' {spelling}'")).collect();
        Some(format!("        {}) {action} ;;", spellings.join(" | ")))
    };
    options().filter_map(branch).collect::<Vec<_>>().join("\n")
}

/// All spellings, those that need a value with `=` at their end.
fn names() -> String {
    let mut names = Vec::new();
    for option in options() {
        for spelling in spellings(option) {
            let equals = option.arity == dls::args::flags::Arity::Required && spelling.starts_with("--");
            names.push(if equals { spelling + "=" } else { spelling });
        }
    }
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use crate::step::workspace;

    /// The completions of bash for the last of `words`.
    fn offers(words: &[&str]) -> Vec<String> {
        let script = r#"
            source completions/dls.bash
            COMP_WORDS=(dls "$@") COMP_CWORD=$#
            _dls
            printf '%s\n' "${COMPREPLY[@]}""#;
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", script, "bash"]).args(words).current_dir(workspace());
        let output = bash.output().expect("bash runs");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("offers are words");
        text.lines().filter(|line| !line.is_empty()).map(Into::into).collect()
    }

    #[test]
    fn options_are_offered() {
        assert_eq!(offers(&["--rec"]), ["--recursive"]);
        assert_eq!(offers(&["-l", "--wid"]), ["--width="]);
        assert!(offers(&["-"]).contains(&"-l".to_string()));
        assert!(offers(&[""]).is_empty(), "files are bash's own business");
        assert!(offers(&["--", "--rec"]).is_empty(), "a file");
    }

    #[test]
    fn lists_go_on_behind_a_comma() {
        assert_eq!(offers(&["--columns", "=", "inod"]), ["inode"]);
        assert_eq!(offers(&["--columns", "=", "size,inod"]), ["size,inode"]);
        assert_eq!(
            offers(&["--columns=size,inod"]),
            ["--columns=size,inode"],
            "with = out of COMP_WORDBREAKS"
        );
        assert_eq!(offers(&["--columns", "+git,-use"]), ["+git,-user"]);
        assert!(offers(&["--columns", "=", "size,"]).contains(&"size,name".to_string()));
        assert!(offers(&["--mode", "=", "par,"]).is_empty(), "no list");
    }

    #[test]
    fn values_are_offered() {
        let all = ["auto", "classic", "par", "iou"];
        assert_eq!(offers(&["--mode", "=", ""]), all);
        assert_eq!(offers(&["--mode", "="]), all);
        assert_eq!(offers(&["--mode", ""]), all);
        assert_eq!(offers(&["--mode", "=", "p"]), ["par"]);
        assert_eq!(offers(&["--mode=p"]), ["--mode=par"], "with = out of COMP_WORDBREAKS");
        assert_eq!(offers(&["--color", "=", "al"]), ["always"]);
        assert!(offers(&["--color", "al"]).is_empty(), "an optional value follows = only");
        assert!(offers(&["-lw", "-"]).is_empty(), "a number");
    }
}
