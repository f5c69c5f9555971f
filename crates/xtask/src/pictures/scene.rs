//! What is listed in the pictures: a small project with fixed times, sizes and owners, under git if that is there.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Removed when dropped.
pub(super) struct Scene(PathBuf);

/// Noon on 2025-03-01: long enough ago for `ls` to show the year, today and when it is drawn anew.
const DAY_ONE: u64 = 1_740_830_400;

/// A few keys of what dircolors(1) prints.
const LS_COLORS: &str = "di=01;34:ln=01;36:or=40;31;01:ex=01;32:*.gz=01;31:*.jpg=01;35:*~=00;90";

/// Path, bytes, mode, days after [`DAY_ONE`].
const FILES: &[(&str, usize, u32, u64)] = &[
    (".gitignore", 8, 0o644, 0),
    ("Cargo.toml", 412, 0o644, 40),
    ("LICENSE", 1_069, 0o644, 0),
    ("README.md", 5_231, 0o644, 63),
    ("build.sh", 733, 0o755, 12),
    ("photo.jpg", 2_411_724, 0o644, 30),
    ("release.tar.gz", 912_384, 0o644, 64),
    ("notes.txt", 96, 0o644, 65),
    ("src/main.rs", 3_120, 0o644, 61),
    ("src/args.rs", 9_044, 0o644, 58),
    ("src/render/columns.rs", 4_870, 0o644, 44),
    ("src/render/long.rs", 7_315, 0o644, 62),
    ("docs/guide.md", 12_840, 0o644, 50),
    ("target/app", 348_160, 0o755, 64),
];

/// What git has not seen, and what was changed after it had.
const UNTRACKED: &str = "notes.txt";
const CHANGED: &str = "README.md";

impl Scene {
    pub(super) fn make() -> io::Result<Scene> {
        let root = std::env::temp_dir().join(format!("dls-pictures-{}", std::process::id()));
        let scene = Scene(root.clone());
        for (path, size, mode, _) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&root))?;
            fs::write(
                &path,
                if path.ends_with(".gitignore") { b"/target\n".to_vec() } else { vec![b'.'; *size] },
            )?;
            fs::set_permissions(&path, Permissions::from_mode(*mode))?;
        }
        symlink("release.tar.gz", root.join("latest"))?;
        symlink("gone", root.join("broken"))?;
        scene.commit();
        for (path, _, _, day) in FILES {
            touch(&root.join(path), *day)?;
        }
        for directory in ["src/render", "src", "docs", "target", "."] {
            touch(&root.join(directory), 62)?;
        }
        // The links' own times are those of their making: nothing in std sets them.
        let links = ["latest", "broken"].map(|link| root.join(link).into_os_string());
        quiet(Command::new("touch").args(["-h", "-d", "2025-04-01T12:00:00Z"]).args(links));
        // Where that is not ours to do, the owner is who draws.
        let all = FILES.iter().map(|(path, ..)| *path).chain(["src", "src/render", "docs", "target", "."]);
        all.for_each(|path| drop(chown(root.join(path), Some(0), Some(0))));
        Ok(scene)
    }

    /// `dls` there, with nothing of the environment of whoever draws.
    pub(super) fn command(&self, dls: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(dls);
        command.args(args).current_dir(&self.0).env_clear();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("HOME", "/home/u").env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC0").env("LS_COLORS", LS_COLORS);
        command
    }

    /// Without git the picture of it will show that there is none.
    fn commit(&self) {
        let changed = self.0.join(CHANGED);
        let git = |args: &[&str]| {
            let author = ["-c", "user.name=dls", "-c", "user.email=dls@example.org"];
            quiet(Command::new("git").arg("-C").arg(&self.0).args(author).args(args))
        };
        git(&["init"]);
        git(&["add", "."]);
        git(&["rm", "--cached", UNTRACKED]);
        git(&["commit", "-m", "all"]);
        let text = fs::read(&changed).unwrap_or_default();
        let _ = fs::write(&changed, text.iter().map(|_| b'-').collect::<Vec<u8>>());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn quiet(command: &mut Command) {
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

fn touch(path: &Path, day: u64) -> io::Result<()> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(DAY_ONE + day * 86_400);
    File::open(path)?.set_times(FileTimes::new().set_accessed(time).set_modified(time))
}
