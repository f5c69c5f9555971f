//! Fuzz targets; see `dents-fuzz`.

pub use crate::lustre::fuzzing::lustre;
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

    /// A plain layout, one in a pool, a composite of two components, and a state in hierarchical storage.
    #[test]
    fn lustre() {
        let plain = |magic: u32, stripes: u16, pool: &[u8]| {
            let mut layout = [&magic.to_le_bytes()[..], &[0; 24], &stripes.to_le_bytes(), &[0; 2]].concat();
            layout.extend_from_slice(pool);
            layout
        };
        let (one, two) = (plain(0x0bd1_0bd0, 1, b""), plain(0x0bd3_0bd0, 4, b"flash\0\0\0\0\0\0\0\0\0\0\0"));
        let entry = |flags: u32, offset: u32| {
            [&[0; 4][..], &flags.to_le_bytes(), &[0; 16], &offset.to_le_bytes(), &[0; 20]].concat()
        };
        let head = [&0x0bd6_0bd0_u32.to_le_bytes()[..], &[0; 10], &2_u16.to_le_bytes(), &[0; 16]].concat();
        let composite = [&head[..], &entry(0x10, 128), &entry(0, 160), &one, &two].concat();
        let states = [&[0; 4][..], &[0x0d, 0, 0, 0], &[1; 16]].concat();
        dents_fuzz::check("lustre", &corpus(&[&one, &two, &composite, &states]), super::lustre);
    }
}
