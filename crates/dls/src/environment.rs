//! The environment, read once.
//!
//! [`Environment`] has a field for every variable that `dls` uses; no later stage reads the environment. The variables
//! of other programs (`PATH`, most of git's) are passed on to children unread.

use core::ffi::CStr;

/// Makes [`Environment`], a field for each variable, and the function that finds a field by the variable's name.
macro_rules! variables {
    ($($name:literal => $field:ident: $doc:literal,)*) => {
        /// The values of the variables that `dls` looks at. `None` where a variable is not set.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Environment<'a> {
            $(#[doc = $doc] pub $field: Option<&'a [u8]>,)*
        }

        impl<'a> Environment<'a> {
            fn variable(&mut self, name: &[u8]) -> Option<&mut Option<&'a [u8]>> {
                match name {
                    $($name => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

variables! {
    b"BLOCK_SIZE" => block_size: "Units of sizes, unless `LS_BLOCK_SIZE` is set.",
    b"BLOCKSIZE" => blocksize: "Units of allocated sizes, unless one of the other two is set.",
    b"CLICOLOR_FORCE" => clicolor_force: "Colours as with `--color=always`, unless empty or 0.",
    b"COLORTERM" => colorterm: "The terminal shows colours, unless empty.",
    b"COLUMNS" => columns: "The width of lines, where the terminal does not tell.",
    b"DLS_COLORS" => dls_colors: "The colours of columns.",
    b"DLS_CONFIG" => dls_config: "The file of default options.",
    b"DLS_GIT_BUDGET" => dls_git_budget: "How long git may take.",
    b"DLS_ICONS" => dls_icons: "Icons beside the built-in ones.",
    b"DLS_TIMEOUT" => dls_timeout: "The value of `--timeout`, unless that is said.",
    b"GIT_CEILING_DIRECTORIES" => git_ceiling_directories: "Directories that are not looked into for repositories.",
    b"GIT_DISCOVERY_ACROSS_FILESYSTEM" => git_discovery_across_filesystem: "Repositories above a mount point are found, if true.",
    b"HOME" => home: "The parent of `.config`.",
    b"LANG" => lang: "The locale of what has no `LC_*` variable of its own.",
    b"LANGUAGE" => language: "The languages of messages, in order of preference.",
    b"LC_ALL" => lc_all: "The locale of everything.",
    b"LC_COLLATE" => lc_collate: "The locale whose order names are sorted in.",
    b"LC_CTYPE" => lc_ctype: "The locale of the charset.",
    b"LC_MESSAGES" => lc_messages: "The locale of messages.",
    b"LC_NUMERIC" => lc_numeric: "The locale of decimal points and groups of digits.",
    b"LC_ADDRESS" => lc_address: "The locale of addresses: not used, but if it is not installed no locale counts.",
    b"LC_IDENTIFICATION" => lc_identification: "The locale of descriptions of locales: not used, but if it is not installed no locale counts.",
    b"LC_MEASUREMENT" => lc_measurement: "The locale of units: not used, but if it is not installed no locale counts.",
    b"LC_MONETARY" => lc_monetary: "The locale of amounts of money: not used, but if it is not installed no locale counts.",
    b"LC_NAME" => lc_name: "The locale of names of persons: not used, but if it is not installed no locale counts.",
    b"LC_PAPER" => lc_paper: "The locale of sizes of paper: not used, but if it is not installed no locale counts.",
    b"LC_TELEPHONE" => lc_telephone: "The locale of telephone numbers: not used, but if it is not installed no locale counts.",
    b"LC_TIME" => lc_time: "The locale of dates.",
    b"LOCPATH" => locpath: "Directories to look for locales in.",
    b"LS_BLOCK_SIZE" => ls_block_size: "Units of sizes.",
    b"LS_COLORS" => ls_colors: "The colours of names.",
    b"NO_COLOR" => no_color: "No colours, unless empty or `--color` is said.",
    b"OUTPUT_CHARSET" => output_charset: "The charset of messages, where it is not that of the locale.",
    b"POSIXLY_CORRECT" => posixly_correct: "As POSIX has it, where GNU differs.",
    b"QUOTING_STYLE" => quoting_style: "The quoting of names.",
    b"TABSIZE" => tabsize: "The distance of tab stops.",
    b"TERM" => term: "The type of the terminal.",
    b"TIME_STYLE" => time_style: "The format of times.",
    b"TZ" => tz: "The time zone.",
    b"TZDIR" => tzdir: "The directory of time zone files.",
    b"XDG_CONFIG_HOME" => xdg_config_home: "The directory of configuration files.",
}

impl<'a> Environment<'a> {
    /// Reads the variables from strings of the form `NAME=value` in one pass. Of two strings with one name the first
    /// counts, as for `getenv`.
    pub fn read(strings: impl Iterator<Item = &'a CStr>) -> Environment<'a> {
        let mut environment = Environment::default();
        for string in strings {
            environment.take(string.to_bytes());
        }
        environment
    }

    fn take(&mut self, string: &'a [u8]) {
        // Most variables are not among these, and are passed over at their first letter.
        if !matches!(string, [b'B' | b'C' | b'D' | b'G' | b'H' | b'L' | b'N' | b'P' | b'Q' | b'T' | b'X', ..])
        {
            return;
        }
        let Some(equals) = memchr::memchr(b'=', string) else { return };
        if let Some(variable) = self.variable(&string[..equals]) {
            variable.get_or_insert(&string[equals + 1..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_counts_and_the_rest_is_passed_over() {
        let strings = [
            c"PATH=/bin",
            c"TZ=UTC0",
            c"TZ=CET",
            c"TZDIRS=x",
            c"LC_PAPER=de",
            c"COLUMNS=",
            c"TERM",
            c"",
            c"=",
            c"LS_COLORS=a=b",
            c"LANGU=x",
        ];
        let expected = Environment {
            tz: Some(b"UTC0"),
            columns: Some(b""),
            ls_colors: Some(b"a=b"),
            lc_paper: Some(b"de"),
            ..Environment::default()
        };
        assert_eq!(Environment::read(strings.into_iter()), expected);
    }

    #[test]
    fn every_variable_has_a_field_of_its_own() {
        let mut environment = Environment::default();
        let others = dents_locale::find::OTHER_VARIABLES;
        assert!(others.iter().all(|name| environment.variable(name).is_some()));
    }
}
