//! A small project to try programs in.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Removed when dropped.
pub(super) struct Project(PathBuf);

/// A name that would set the title of a terminal.
const HOSTILE: &[u8] = b"x\x1b]0;owned\x07y";

impl Project {
    pub(super) fn make() -> io::Result<Project> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("dls-features-{}-{number}", std::process::id()));
        let project = Project(root);
        let at = |path: &str| project.0.join(path);
        for directory in ["z/deep", "h", "many"] {
            fs::create_dir_all(at(directory))?;
        }
        let files = [
            ("a.txt", 31),
            ("f2", 20),
            ("f10", 70_000),
            ("skip.log", 1),
            ("z.tar.gz", 30),
            (".hidden", 1),
            // In German before f, in bytes behind z.
            ("\u{e4}hre", 1),
        ];
        for (name, size) in
            files.into_iter().chain([("z/inner", 1), ("z/other", 1), ("z/deep/big", 5_000_000)])
        {
            fs::write(at(name), vec![b'.'; size])?;
        }
        fs::write(project.0.join("h").join(OsStr::from_bytes(HOSTILE)), "")?;
        symlink("f2", at("link"))?;
        fs::write(at(".gitignore"), "skip.log\n")?;
        fs::write(at("dls.conf"), "always -r\n--color=auto\n")?;
        fs::write(at("lsd.yaml"), "sorting:\n  reverse: true\n")?;
        for number in 0..1000 {
            File::create(at(&format!("many/file-{number}")))?;
        }
        project.prepare("git", &["init"]);
        project.prepare("git", &["add", "f2", ".gitignore"]);
        let author = ["-c", "user.name=dls", "-c", "user.email=dls@example.org"];
        project.prepare("git", &[&author[..], &["commit", "-m", "all"]].concat());
        fs::write(at("f2"), "changed")?;
        // Where the file system has none of these, no program will show them.
        project.prepare("setfattr", &["-n", "user.tag", "-v", "blue", "a.txt"]);
        project.prepare("setfacl", &["-m", "u:1:r", "f10"]);
        project.prepare("chattr", &["+d", "z.tar.gz"]);
        Ok(project)
    }

    fn prepare(&self, program: &str, args: &[&str]) {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let _ = command.status();
    }

    /// `program` in the project, with words `NAME=value` before its arguments in its environment, and little else.
    pub(super) fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.0);
        command
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("LS_COLORS", "*.gz=01;31:di=01;34");
        let is_variable = |word: &&&str| !word.starts_with('-') && word.contains('=') && !word.contains(' ');
        let variables: Vec<&str> = args.iter().take_while(is_variable).copied().collect();
        command.envs(variables.iter().filter_map(|word| word.split_once('=')));
        command.args(&args[variables.len()..]);
        command
    }

    /// The output of GNU `ls` for the same arguments.
    pub(super) fn gnu(&self, args: &[&str]) -> Option<String> {
        let output = self.command(Path::new("/bin/ls"), args).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// System calls, counted by strace.
    pub(super) fn calls(&self, program: &Path, args: &[&str]) -> Option<usize> {
        let log = self.0.join(".strace.log");
        let mut words = vec!["-f", "-o", log.to_str()?, program.to_str()?];
        words.extend(args);
        let mut command = self.command(Path::new("strace"), &words);
        let status =
            command.current_dir(self.0.join("many")).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let text = fs::read(&log).ok()?;
        let text = String::from_utf8_lossy(&text);
        // A call that another interrupts has two lines; a signal and an end are none.
        let is_call =
            |line: &&str| !line.contains(" resumed>") && !line.contains("+++") && !line.contains("---");
        status.ok()?.success().then(|| text.lines().filter(is_call).count())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
