//! Fuzz targets; see `dents-fuzz`.

pub use crate::config::fuzzing::config;
pub use crate::git::fuzzing::{git_settings, git_status};

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    fn corpus(texts: &[&[u8]]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.to_vec()).collect()
    }

    #[test]
    fn git_status() {
        let text =
            b"1 .M N... 100644 100644 100644 00 11 d/a b\0 1 A. N... 100644 100644 100644 00 11 added\0\
            2 R. N... 100644 100644 100644 00 11 R100 new name\0old/name\0u UU N... 1 2 3 4 5 6 7 torn\0\
            ? free/\0! junk\x01\xff\0? d/e/f/g\0";
        dents_fuzz::check("git_status", &corpus(&[text, b"? d/a\0! d/b/\0? d-1\0? d\0"]), super::git_status);
    }

    #[test]
    fn git_settings() {
        let text = b"system\0core.fsmonitor\nfalse\0global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.a=b.process\n./x\0\
            local\0filter.lfs.required\ntrue\0command\0core.fsmonitor\nprog\0local\0lfs.extension.x.smudge\ny\0local\0core.bare\0";
        dents_fuzz::check("git_settings", &corpus(&[text]), super::git_settings);
    }

    #[test]
    fn config() {
        let texts: [&[u8]; 2] = [
            b"# a comment\n--group-directories-first\n--sort=version\n-w 100\n--time-style +%d %b %Y\nalways --si\n\
            colors = header=1;4:size-g=31:hue=1\nicons = *.rs=e7a8:*.c\n-la\n",
            b"\xef\xbb\xbf-h\r\n--foo\nls\n--help\n--sort=x\n\x1b[31m\n--\n-I #*#\nalways colors = you=1\n--no-config",
        ];
        dents_fuzz::check("config", &corpus(&texts), super::config);
    }
}
