//! The directory in the pictures: a small project with fixed times, sizes and owners, under git if that is installed.

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

/// Some keys of the output of dircolors(1); `or` without its black background, which would be wrong on a white page.
const LS_COLORS: &str = "di=01;34:ln=01;36:or=31:ex=01;32:*.gz=01;31:*.jpg=01;35:*~=00;90";

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Path, bytes, mode, days after [`DAY_ONE`]; seconds before now where ages are shown, in the middle of a unit, so that the
/// picture is the same when it is drawn anew.
const FILES: &[(&str, usize, u32, u64, u64)] = &[
    (".gitignore", 8, 0o644, 0, 400 * DAY),
    ("Cargo.toml", 412, 0o644, 40, 40 * DAY),
    ("LICENSE", 1_069, 0o644, 0, 900 * DAY),
    ("README.md", 5_231, 0o644, 63, 150 * MINUTE),
    ("build.sh", 733, 0o755, 12, 165 * DAY),
    ("photo.jpg", 2_411_724, 0o644, 30, 500 * DAY),
    ("release.tar.gz", 912_384, 0o644, 64, 3 * DAY + 12 * HOUR),
    ("notes.txt", 96, 0o644, 65, 7 * MINUTE + 30),
    ("src/main.rs", 3_120, 0o644, 61, 42 * MINUTE + 30),
    ("src/args.rs", 9_044, 0o644, 58, 5 * DAY + 12 * HOUR),
    ("src/render/columns.rs", 4_870, 0o644, 44, 75 * DAY),
    ("src/render/long.rs", 7_315, 0o644, 62, 5 * HOUR + 30 * MINUTE),
    ("docs/guide.md", 12_840, 0o644, 50, 20 * DAY + 12 * HOUR),
    ("target/app", 348_160, 0o755, 64, 12 * MINUTE + 30),
];

/// From the deepest up, because a change in a directory changes its time.
const DIRECTORIES: [&str; 5] = ["src/render", "src", "docs", "target", "."];

/// Files that are untracked, and files that are changed after the commit.
const UNTRACKED: &str = "notes.txt";
const CHANGED: &str = "README.md";

impl Scene {
    pub(super) fn make() -> io::Result<Scene> {
        let root = std::env::temp_dir().join(format!("dls-pictures-{}", std::process::id()));
        let scene = Scene(root.clone());
        for (path, size, mode, ..) in FILES {
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
        scene.date(false)?;
        // If owners cannot be set, they remain the current user.
        let all = FILES.iter().map(|(path, ..)| *path).chain(DIRECTORIES);
        all.for_each(|path| drop(chown(root.join(path), Some(0), Some(0))));
        Ok(scene)
    }

    /// Sets all times: on fixed days, or relative to the current time (`ages`).
    pub(super) fn date(&self, ages: bool) -> io::Result<()> {
        let day_one = SystemTime::UNIX_EPOCH + Duration::from_secs(DAY_ONE);
        let now = SystemTime::now();
        let time = |day: u64, ago: u64| {
            if ages { now - Duration::from_secs(ago) } else { day_one + Duration::from_secs(day * DAY) }
        };
        for (path, _, _, day, ago) in FILES {
            touch(&self.0.join(path), time(*day, *ago))?;
        }
        let directories = DIRECTORIES.iter().zip([5 * HOUR, 42 * MINUTE, 20 * DAY, 12 * MINUTE, 7 * MINUTE]);
        for (path, ago) in directories {
            touch(&self.0.join(path), time(62, ago + 30))?;
        }
        // The times of the links themselves, which std cannot set.
        let links = time(31, 500 * DAY).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let touch = ["-h", "-d", &format!("@{links}"), "latest", "broken"];
        quiet(Command::new("touch").args(touch).current_dir(&self.0));
        Ok(())
    }

    /// `dls` in the project, without the environment of the current user.
    pub(super) fn command(&self, dls: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(dls);
        command.args(args).current_dir(&self.0).env_clear();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("HOME", "/home/u").env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC0").env("LS_COLORS", LS_COLORS);
        command
    }

    /// Without git, the picture about git shows none.
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

fn touch(path: &Path, time: SystemTime) -> io::Result<()> {
    File::open(path)?.set_times(FileTimes::new().set_accessed(time).set_modified(time))
}
