//! The types of file systems, by the device that files tell: `%F`.

/// From /proc/self/mountinfo, read once.
#[derive(Default)]
pub(super) struct Mounts(Vec<((u32, u32), Vec<u8>)>);

impl Mounts {
    pub(super) fn read() -> Mounts {
        Mounts::parse(&std::fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    /// The third field of a line is the device, the one after a lone dash the type (proc(5)).
    fn parse(lines: &[u8]) -> Mounts {
        let mount = |line: &[u8]| {
            let mut fields = line.split(|byte| *byte == b' ');
            let device = std::str::from_utf8(fields.nth(2)?).ok()?;
            let (major, minor) = device.split_once(':')?;
            let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
            Some(((major.parse().ok()?, minor.parse().ok()?), kind.to_vec()))
        };
        Mounts(lines.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// `unknown` for a device that is not in the list, as the subvolumes of btrfs are.
    pub(super) fn kind(&self, device: (u32, u32)) -> &[u8] {
        let found = self.0.iter().find(|(known, _)| *known == device);
        found.map_or(b"unknown", |(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mountinfo() {
        let mounts = Mounts::parse(
            b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw\n\n37 35 0:5 / / rw - tmpfs x\n1 2 3",
        );
        assert_eq!(mounts.kind((98, 0)), b"ext3");
        assert_eq!(mounts.kind((0, 5)), b"tmpfs");
        assert_eq!(mounts.kind((3, 0)), b"unknown");
    }
}
