//! Programs in C, C++ and Go: built against the libraries that `cargo xtask install-c` installs, and run under valgrind and sanitizers.

mod languages;
mod scans;
mod walks;

use dents_lab::fixture::TempDir;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two directories above")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    output
}

/// An installed library.
struct Library {
    prefix: PathBuf,
}

/// A library that is installed once for all tests, when the first one needs it.
struct Installed {
    name: &'static str,
    options: &'static [&'static str],
    library: OnceLock<Library>,
}

static ALL: Installed = Installed { name: "prefix", options: &[], library: OnceLock::new() };
static WALK_ONLY: Installed =
    Installed { name: "prefix-walk-only", options: &["--walk-only"], library: OnceLock::new() };

impl Installed {
    fn get(&self) -> &Library {
        self.library.get_or_init(|| {
            let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name);
            let mut install = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            install.args(["xtask", "install-c", "--profile", "bindings-checked"]).args(self.options);
            succeed(install.arg("--prefix").arg(&prefix).current_dir(workspace()));
            Library { prefix }
        })
    }
}

impl Library {
    /// A command for which pkg-config finds this library.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"));
        command
    }

    fn pkg_config(&self, words: &[&str]) -> Vec<String> {
        let output = succeed(self.command("pkg-config").args(words).arg("dents"));
        text(&output.stdout).split_whitespace().map(str::to_owned).collect()
    }

    /// What links with the shared library, and finds it where it is.
    fn shared(&self) -> Vec<String> {
        let rpath = format!("-Wl,-rpath,{}", self.prefix.join("lib").display());
        [vec![rpath], self.pkg_config(&["--libs"])].concat()
    }

    /// What links with the static library.
    fn archive(&self) -> Vec<String> {
        let archive = self.prefix.join("lib/libdents.a").to_str().expect("text").to_owned();
        let others = self.pkg_config(&["--libs", "--static"]).into_iter().filter(|word| word != "-ldents");
        std::iter::once(archive).chain(others).collect()
    }

    /// Compiles a program, with every warning an error.
    fn compile(&self, dir: &Path, source: &Path, compiler: &str, options: &[String]) -> PathBuf {
        let name = source.file_name().expect("a file").to_str().expect("text");
        let program = dir.join(name.replace('.', "-"));
        let standard = if name.ends_with(".cc") { "-std=c++17" } else { "-std=c11" };
        let mut command = Command::new(compiler);
        command.arg(standard).args(WARNINGS).args(["-g", "-pthread", "-o"]).arg(&program).arg(source);
        succeed(command.args(self.pkg_config(&["--cflags"])).args(options));
        program
    }
}

/// Of the strict language, and of programs that check what a conversion may change.
const WARNINGS: &[&str] =
    &["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"];

fn shared(library: &Library, dir: &Path, source: &str) -> PathBuf {
    library.compile(dir, &examples().join(source), "cc", &library.shared())
}

/// Whether the program is there; if not, a line says what is left out.
fn is_there(program: &str, without: &str) -> bool {
    let version = if program == "go" { "version" } else { "--version" };
    let is_there = Command::new(program).arg(version).output().is_ok();
    if !is_there {
        println!("without {program}: {without}");
    }
    is_there
}

/// Runs it under valgrind: every error and every leak is a failure.
fn run(program: &Path, words: &[&str], cwd: &Path) -> Output {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect",
    ]);
    command.arg("--errors-for-leak-kinds=definite,indirect").arg(program).args(words).current_dir(cwd);
    let output = command.output().expect("valgrind");
    assert_ne!(output.status.code(), Some(99), "{words:?}: {}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tree() -> TempDir {
    let dir = TempDir::new("c").expect("fixture");
    for directory in ["a", "b"] {
        std::fs::create_dir(dir.path().join(directory)).expect("fixture");
        for size in 0..20 {
            std::fs::write(dir.path().join(directory).join(format!("f{size}")), vec![b'x'; size])
                .expect("fixture");
        }
    }
    std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"b/\xff")), [b'x'; 99]).expect("fixture");
    dir
}
