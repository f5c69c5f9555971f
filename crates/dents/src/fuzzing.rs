//! Fuzz targets; see `dents-fuzz`.

/// An ignore file, with names to match, behind a NUL each; and the same bytes as a configuration of git.
pub fn gitignore(bytes: &[u8]) {
    crate::gitignore::any_bytes(bytes);
}

#[cfg(test)]
mod tests {
    #[test]
    fn gitignore() {
        let corpus = [
            &b"*.{js,ts}\n[[:digit:]]*.tmp\nfoo[\nkeep\\ \n!a**/b/\n/x/**/y\n**/z\0a.js\0x/q/y\0a/b"[..],
            b"[a\\]-z[:alpha:]!^]\n*a*b*a*b*a*b*a\n\\\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0abababab/ababab",
            b"[core]\n\texcludesFile = \"~/my \\\"rules\\\"\" ; x\n\tignorecase\n[a \"b\\\"\"]\nx = 1\\\n2\n[include] path = /nowhere\n",
        ];
        dents_fuzz::check("gitignore", &corpus.map(Vec::from), super::gitignore);
    }
}
