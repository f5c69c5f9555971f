//! Programs that a repository configures are never run; those of the user's configuration are.
//!
//! Each trap is a program that leaves a mark. Where every release of git runs it in `git status`, the test makes sure
//! that the trap works.

use super::*;
use std::fs::{File, FileTimes};
use std::process::Command;
use std::time::SystemTime;

/// An unprivileged user, where the tests run as root.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Whether a plain `git status` runs the trap.
#[derive(PartialEq)]
enum Springs {
    Always,
    PerhapsNever,
}

/// A repository with the files `a`, `b`, and `c`, of which `a` must be compared by its content.
struct Trap {
    place: Place,
    top: PathBuf,
    mark: PathBuf,
}

impl Trap {
    fn new() -> Trap {
        let place = Place::new();
        let top = place.repository("trap", &["a", "b", "c"]);
        let marks = place.path().join("marks");
        fs::create_dir(&marks).unwrap();
        fs::set_permissions(&marks, fs::Permissions::from_mode(0o777)).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Trap { place, top, mark: marks.join("mark") }
    }

    /// A command that leaves the mark, and passes its input on.
    fn command(&self) -> String {
        format!("touch {}; cat", self.mark.display())
    }

    /// The same for a file monitor, which then fails, so that git looks for itself.
    fn monitor(&self) -> String {
        format!("touch {}; false", self.mark.display())
    }

    /// The same as an executable file.
    fn script(&self, path: &Path) {
        write(path, &format!("#!/bin/sh\n{}\n", self.monitor()));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn config(&self, key: &str, value: &str) {
        git(&self.top, &["config", key, value]);
    }

    /// Filters `driver` by `key`, with attributes in the work tree.
    fn filter(&self, driver: &str, key: &str) {
        write(&self.top.join(".gitattributes"), &format!("* filter={driver}\n"));
        let mut config = fs::read_to_string(self.top.join(".git/config")).unwrap();
        config += &format!("[filter \"{driver}\"]\n\t{key} = \"{}\"\n", self.command());
        fs::write(self.top.join(".git/config"), config).unwrap();
    }

    fn make_stale(&self) {
        let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400));
        File::options().write(true).open(self.top.join("a")).unwrap().set_times(times).unwrap();
    }

    /// Lists it as the tests' own user, with filters of the user's own, as one without privileges, and as root by sudo.
    fn is_not_run(&self, springs: Springs) {
        self.make_stale();
        self.list("ourselves", |run| run);
        // Then git is not confined.
        let own = self.place.path().join("own");
        write(&own.join(".gitconfig"), "[filter \"own\"]\n\tclean = cat\n");
        self.list("a user of filters", |run| run.env("HOME", &own));
        if is_root() {
            let program = self.place.path().join("dls");
            dents_lab::fixture::copy_program(checked().path(), &program);
            let chown = ["-R", "65534:65534", self.top.to_str().unwrap()];
            assert!(Command::new("chown").args(chown).status().unwrap().success());
            self.list("root by sudo", |run| run.env("SUDO_UID", "65534"));
            self.list("a user", |run| Run { program: program.clone(), ..run }.under(&NOBODY));
            let chown = ["-R", "0:0", self.top.to_str().unwrap()];
            assert!(Command::new("chown").args(chown).status().unwrap().success());
        }
        if springs == Springs::Always {
            let _ = try_git(&self.top, &["status"]);
            assert!(self.mark.exists(), "git itself does not run it");
        }
    }

    fn list(&self, user: &str, by: impl Fn(Run) -> Run) {
        for args in [&["--columns=git,name", "-A"][..], &["-l", "--git", "--tree"], &["--gitignore", "-R"]] {
            let outcome = by(dls(&self.top, args)).output().unwrap();
            assert_eq!(outcome.end, End::Exit(0), "{user}: {args:?}: {}", text(&outcome.stderr));
            assert!(!self.mark.exists(), "{user}: dls {args:?} ran what the repository configures");
        }
    }
}

#[test]
fn file_monitor() {
    let trap = Trap::new();
    trap.config("core.fsmonitor", &trap.monitor());
    trap.is_not_run(Springs::Always);
}

#[test]
fn clean_filter() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    trap.is_not_run(Springs::Always);
    assert_eq!(letters(&trap.top, &["a"]), ["-- a"], "compared as it is");
}

#[test]
fn required_filter() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    trap.config("filter.x.required", "true");
    trap.is_not_run(Springs::Always);
    trap.make_stale();
    assert_eq!(letters(&trap.top, &["a"]), ["-- a"], "compared as it is");
}

#[test]
fn process_filter() {
    let trap = Trap::new();
    trap.filter("x", "process");
    trap.is_not_run(Springs::Always);
}

/// Names that a command line would break at.
#[test]
fn filters_with_odd_names() {
    for driver in ["x=y", "", "x.clean", "X'y", "ä"] {
        let trap = Trap::new();
        trap.filter(driver, "clean");
        trap.is_not_run(Springs::Always);
    }
}

#[test]
fn attributes_of_the_repository_itself() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    fs::rename(trap.top.join(".gitattributes"), trap.top.join(".git/info/attributes")).unwrap();
    trap.is_not_run(Springs::Always);
}

#[test]
fn attributes_in_a_file_that_it_names() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    fs::rename(trap.top.join(".gitattributes"), trap.top.join("named")).unwrap();
    trap.config("core.attributesFile", trap.top.join("named").to_str().unwrap());
    trap.is_not_run(Springs::Always);
}

#[test]
fn included_configuration() {
    for section in ["[include]", "[includeIf \"gitdir:/**\"]"] {
        for what in ["core", "filter \"x\""] {
            let trap = Trap::new();
            let key = if what == "core" { "fsmonitor" } else { "clean" };
            write(&trap.top.join(".gitattributes"), "* filter=x\n");
            let monitor = if what == "core" { trap.monitor() } else { trap.command() };
            write(&trap.top.join(".git/more"), &format!("[{what}]\n\t{key} = \"{monitor}\"\n"));
            let config = fs::read_to_string(trap.top.join(".git/config")).unwrap();
            fs::write(trap.top.join(".git/config"), format!("{config}{section}\n\tpath = more\n")).unwrap();
            trap.is_not_run(Springs::Always);
        }
    }
}

#[test]
fn configuration_of_a_work_tree() {
    let trap = Trap::new();
    trap.config("extensions.worktreeConfig", "true");
    trap.filter("x", "unused");
    git(&trap.top, &["config", "--worktree", "core.fsmonitor", &trap.monitor()]);
    git(&trap.top, &["config", "--worktree", "filter.x.clean", &trap.command()]);
    trap.is_not_run(Springs::Always);
}

/// `.git/commondir` names the directory of the configuration.
#[test]
fn configuration_elsewhere() {
    let trap = Trap::new();
    let there = trap.top.join("elsewhere");
    assert!(Command::new("cp").arg("-r").args([&trap.top.join(".git"), &there]).status().unwrap().success());
    fs::write(trap.top.join(".git/commondir"), "../elsewhere\n").unwrap();
    git(&trap.top, &["config", "--file", "elsewhere/config", "core.fsmonitor", &trap.monitor()]);
    trap.is_not_run(Springs::Always);
}

/// `.git` is a file that names the repository.
#[test]
fn repository_elsewhere() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    trap.config("core.fsmonitor", &trap.monitor());
    fs::rename(trap.top.join(".git"), trap.top.join("hidden")).unwrap();
    fs::write(trap.top.join(".git"), "gitdir: hidden\n").unwrap();
    trap.is_not_run(Springs::Always);
}

#[test]
fn work_tree_elsewhere() {
    let trap = Trap::new();
    trap.config("core.worktree", trap.place.path().to_str().unwrap());
    trap.config("core.fsmonitor", &trap.monitor());
    trap.is_not_run(Springs::Always);
}

/// Git inspects a submodule with a second git, which uses the submodule's configuration.
#[test]
fn submodule() {
    let trap = Trap::new();
    let inner = trap.place.repository("inner", &["s"]);
    git(&trap.top, &["submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"]);
    git(&trap.top, &["commit", "-q", "-m", "sub"]);
    git(&trap.top.join("sub"), &["config", "core.fsmonitor", &trap.monitor()]);
    git(&trap.top.join("sub"), &["config", "filter.x.clean", &trap.command()]);
    write(&trap.top.join("sub/.gitattributes"), "* filter=x\n");
    trap.config("submodule.sub.ignore", "none");
    trap.config("status.submoduleSummary", "true");
    trap.is_not_run(Springs::Always);
    for name in ["sub", "."] {
        shown(&dls(&trap.top, &["-l", "--git", "-d", name]));
    }
}

#[test]
fn hooks() {
    for path in [".git/hooks", "hooks"] {
        let trap = Trap::new();
        for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"] {
            trap.script(&trap.top.join(path).join(hook));
        }
        if path == "hooks" {
            trap.config("core.hooksPath", trap.top.join("hooks").to_str().unwrap());
        }
        trap.config("hook.x.command", &trap.monitor());
        trap.config("hook.x.event", "post-index-change");
        trap.is_not_run(Springs::PerhapsNever);
    }
}

#[test]
fn differences() {
    let trap = Trap::new();
    write(&trap.top.join(".gitattributes"), "* diff=x merge=x\n");
    for key in
        ["diff.x.textconv", "diff.x.command", "diff.external", "merge.x.driver", "interactive.diffFilter"]
    {
        trap.config(key, &trap.command());
    }
    git(&trap.top, &["mv", "b", "moved"]);
    write(&trap.top.join("c"), "changed");
    trap.is_not_run(Springs::PerhapsNever);
}

#[test]
fn programs_around() {
    let trap = Trap::new();
    for key in [
        "core.pager",
        "pager.status",
        "core.editor",
        "gpg.program",
        "core.askPass",
        "core.alternateRefsCommand",
    ] {
        trap.config(key, &trap.command());
    }
    for key in ["alias.status", "alias.config", "credential.helper"] {
        trap.config(key, &format!("!{}", trap.command()));
    }
    trap.is_not_run(Springs::PerhapsNever);
}

/// A missing object is not fetched, whatever program the repository configures for that.
#[test]
fn missing_objects() {
    for (url, vcs) in [("/nonexistent", ""), ("ssh://x/y", ""), ("ext::", ""), ("any", "ext")] {
        let trap = Trap::new();
        let url = if url == "ext::" { &format!("ext::touch {}", trap.mark.display()) } else { url };
        let keys = [("core.repositoryformatversion", "1"), ("extensions.partialClone", "origin")];
        keys.iter().for_each(|(key, value)| trap.config(key, value));
        trap.config("remote.origin.promisor", "true");
        trap.config("remote.origin.url", url);
        trap.config("remote.origin.uploadpack", &trap.command());
        trap.config("protocol.ext.allow", "always");
        trap.config("core.sshCommand", &trap.command());
        trap.config("core.gitProxy", &trap.command());
        if !vcs.is_empty() {
            trap.config("remote.origin.vcs", vcs);
        }
        let tree = try_git(&trap.top, &["rev-parse", "HEAD^{tree}"]).stdout;
        let tree = text(&tree);
        fs::remove_file(trap.top.join(".git/objects").join(&tree[..2]).join(tree[2..].trim())).unwrap();
        fs::remove_file(trap.top.join(".git/index")).unwrap();
        for args in [&["--columns=git,name"][..], &["--gitignore"]] {
            let outcome = dls(&trap.top, args).output().unwrap();
            assert_eq!(outcome.end, End::Exit(0), "{args:?}: {}", text(&outcome.stderr));
            assert!(!trap.mark.exists(), "{url}: {args:?}");
        }
    }
}

/// The user's own configuration, in a file or in the environment.
#[test]
fn what_the_user_configures_is_run() {
    let trap = Trap::new();
    let own = trap.place.path().join("own");
    fs::create_dir(&own).unwrap();
    let upper = format!("touch {}; tr a-z A-Z", own.join("filter").display());
    let monitor = format!("touch {}; false", own.join("monitor").display());
    let config = format!("[filter \"x\"]\n\tclean = \"{upper}\"\n[core]\n\tfsmonitor = \"{monitor}\"\n");
    write(&own.join(".gitconfig"), &config);
    write(&own.join("xdg/git/config"), &config);
    write(&trap.top.join(".git/info/attributes"), "a filter=x\n");
    let environment = |run: Run| {
        let run = run.env("GIT_CONFIG_COUNT", "2").env("GIT_CONFIG_KEY_0", "filter.x.clean");
        run.env("GIT_CONFIG_VALUE_0", &upper)
            .env("GIT_CONFIG_KEY_1", "core.fsmonitor")
            .env("GIT_CONFIG_VALUE_1", &monitor)
    };
    let ways: [&dyn Fn(Run) -> Run; 3] =
        [&|run| run.env("HOME", &own), &|run| run.env("XDG_CONFIG_HOME", own.join("xdg")), &environment];
    for hostile in [false, true] {
        if hostile {
            trap.config("filter.x.clean", &trap.command());
            trap.config("filter.x.required", "true");
            trap.config("filter.y.process", &trap.command());
            trap.config("core.fsmonitor", &trap.monitor());
        }
        for way in ways {
            trap.make_stale();
            assert_eq!(
                shown(&way(dls(&trap.top, &["--columns=git,name"]))),
                "-M a\n-- b\n-- c\n",
                "{hostile}"
            );
            for name in ["filter", "monitor"] {
                fs::remove_file(own.join(name)).unwrap_or_else(|_| panic!("{name} was not run ({hostile})"));
            }
            assert!(!trap.mark.exists());
        }
    }
}

/// A git that is a script, which cannot do without processes.
#[test]
fn a_script_in_place_of_git() {
    let trap = Trap::new();
    trap.filter("x", "clean");
    trap.config("core.fsmonitor", &trap.monitor());
    write(&trap.top.join("b"), "changed");
    let bin =
        fake_git(&trap.place, "directory=$(dirname /usr/bin/git) || exit 1; exec $directory/git \"$@\"");
    assert_eq!(shown(&with_git(dls(&trap.top, &["--columns=git,name"]), &bin)), "-- a\n-M b\n-- c\n");
    assert!(!trap.mark.exists());
}

/// The repository changes its configuration after it was read: the script answers with the old one.
#[test]
fn configuration_that_changes() {
    let trap = Trap::new();
    let before = trap.place.path().join("before");
    fs::write(&before, try_git(&trap.top, &["config", "--list", "--show-scope", "-z"]).stdout).unwrap();
    trap.filter("x", "process");
    trap.make_stale();
    let script = "case \"$*\" in *config*) exec cat BEFORE;; esac; exec /usr/bin/git \"$@\"";
    let bin = fake_git(&trap.place, &script.replace("BEFORE", before.to_str().unwrap()));
    let run = with_git(dls(&trap.top, &["--columns=git,name"]), &bin);
    // Where the kernel cannot confine git, it is run.
    let confined = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").is_ok();
    assert_eq!(shown(&run), "-- a\n-- b\n-- c\n");
    assert!(!trap.mark.exists() || !confined);
}
