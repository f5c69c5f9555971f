//! Fuzz targets; see `dents-fuzz`.

pub use crate::mounts::fuzzing::mounts;
pub use crate::owners::fuzzing::owners;

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    fn corpus(texts: &[&[u8]]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.to_vec()).collect()
    }

    #[test]
    fn owners() {
        let passwd =
            b"root:x:0:0:root:/root:/bin/bash\n#off:x:7:7:\n+nis:::\n\tann:x: 7:+7:Ann:/:\nann2:x:7:7::/:\n";
        let group = b"root:x:0:\nwheel:x:10:root,ann\nbig:x:4294967295:\n";
        let nsswitch = b"# passwd: ldap\npasswd:\tfiles [NOTFOUND=return] systemd # sss\ngroup: files\n";
        dents_fuzz::check("owners", &corpus(&[passwd, group, nsswitch]), super::owners);
    }

    #[test]
    fn mounts() {
        let mounts = b"27 1 254:0 / / rw - ext4 /dev/vda rw\n22 27 0:21 / /proc rw - proc proc rw\n\
            23 27 0:22 / /mnt/a\\040b\\134 rw shared:1 - tmpfs x rw\n24 27 254:0 /sub /mnt/deep rw - ext4 y rw\n";
        dents_fuzz::check("mounts", &corpus(&[mounts]), super::mounts);
    }
}
