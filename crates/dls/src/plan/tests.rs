//! Plans are values: tests compare them.

use super::*;
use crate::args;
use crate::environment::Environment;
use crate::locale::{FoundLocale, Language};
use dents_render::Quoting;
use std::ffi::CString;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Strings that live as long as the test.
fn strings(texts: &[&str]) -> Vec<&'static CStr> {
    let leak = |text: &&str| &*Box::leak(CString::new(*text).unwrap().into_boxed_c_str());
    texts.iter().map(leak).collect()
}

/// The plan, and the warnings about the environment.
fn decided(
    program: &'static str,
    args: &[&str],
    environment: &[&str],
    terminal: Option<u16>,
) -> (Result<Plan<'static>, UsageError<'static>>, Vec<Warning<'static>>) {
    let environment = Environment::read(strings(environment).into_iter());
    let args = args::parse(strings(args), environment.posixly_correct.is_some()).unwrap();
    let locale = FoundLocale::new(&environment);
    let language = locale.language();
    let around = Surroundings {
        environment: &environment,
        program: program.as_bytes(),
        locale: &locale,
        language: &language,
        terminal,
    };
    let mut warnings = Vec::new();
    (Plan::new(&args, &around, &mut warnings), warnings)
}

fn plan(args: &[&str], environment: &[&str]) -> Plan<'static> {
    let (plan, warnings) = decided("ls", args, environment, None);
    assert_eq!(warnings, []);
    plan.map_err(|_| ()).expect("a plan")
}

#[test]
fn what_comes_to_the_same_is_the_same_plan() {
    assert_eq!(plan(&["-lG"], &[]), plan(&["-l", "--no-group"], &[]));
    assert_eq!(plan(&["-x", "-w", "100"], &[]), plan(&["-x"], &["COLUMNS=100"]));
    assert_eq!(plan(&["-l", "--block-size=1M"], &[]), plan(&["-l"], &["BLOCK_SIZE=1M"]));
    assert_eq!(
        plan(&["-l"], &["LS_COLORS=di=1"]),
        plan(&["-l", "--color=never"], &[]),
        "no colours in a pipe"
    );
    assert_eq!(plan(&["--timeout=2s"], &[]), plan(&[], &["DLS_TIMEOUT=2s"]));
    let terminal = decided("ls", &[], &["TERM=dumb"], Some(80)).0.ok();
    assert_eq!(terminal, decided("ls", &["-C", "-w80"], &["TERM=dumb"], Some(200)).0.ok());
    let vdir = decided("vdir", &[], &[], None).0.ok().map(|plan| Plan { program: b"ls", ..plan });
    assert_eq!(vdir, Some(plan(&["-lb"], &[])));
}

#[test]
fn what_differs_is_another_plan() {
    let plain = plan(&[], &[]);
    for args in
        [&["-l"][..], &["-a"], &["-r"], &["-S"], &["-I", "x"], &["--mode=par"], &["-d"], &["-L"], &["-F"]]
    {
        assert_ne!(plain, plan(args, &[]), "{args:?}");
    }
    assert_ne!(plan(&["-l"], &["TZ=UTC0"]), plan(&["-l"], &["TZ=CET"]));
    assert_ne!(plan(&["--color"], &["LS_COLORS=di=1"]), plan(&["--color"], &["LS_COLORS=di=2"]));
}

#[test]
fn a_plan_prints_what_it_decides() {
    let text = format!("{:?}", plan(&["-lt", "--color", "--icons=always"], &["TZ=Europe/Berlin"]));
    for part in
        ["format: Long", "key: Time", "mode: Auto", "/usr/share/zoneinfo/Europe/Berlin", "recursive: false"]
    {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn what_is_wrong_with_the_environment_is_data() {
    let environment = ["COLUMNS=x", "QUOTING_STYLE=y", "LS_COLORS=zz=1", "DLS_GIT_BUDGET=z", "DLS_ICONS=*.c"];
    let args = ["-C", "--color", "--gitignore", "--icons=always"];
    let (first, warnings) = decided("ls", &args, &environment, None);
    let (second, again) = decided("ls", &args, &environment, None);
    assert!(first.is_ok());
    assert_eq!((first.ok(), &warnings), (second.ok(), &again));
    let told = |warning: &Warning<'_>| {
        let text = warning
            .message(b"ls", &Language::english(dents_locale::Charset::Ascii))
            .line(&Language::english(dents_locale::Charset::Ascii));
        String::from_utf8(text).unwrap()
    };
    let told: Vec<String> = warnings.iter().map(told).collect();
    let expected = [
        "ls: ignoring invalid width in environment variable COLUMNS: 'x'\n",
        "ls: ignoring invalid value of environment variable QUOTING_STYLE: 'y'\n",
        "ls: unrecognized prefix: 'zz'\n",
        "ls: unparsable value for LS_COLORS environment variable\n",
    ];
    assert_eq!(told[..4], expected);
    assert!(told[4].starts_with("ls: ignoring '*.c' in environment variable DLS_ICONS: "), "{}", told[4]);
    let of_time = "ls: ignoring invalid time in environment variable DLS_GIT_BUDGET: 'z' (must be a number of seconds, ";
    assert!(told[5].starts_with(of_time), "{}", told[5]);
    let (none, warnings) = decided("ls", &["-lC", "-l", "--time-style=x"], &["QUOTING_STYLE=y"], None);
    assert!(none.is_err() && warnings.len() == 1, "told also where there is no plan: {warnings:?}");
}

#[test]
fn what_it_is_called_as() {
    let called = |name: &str| CalledAs::of(name.as_bytes());
    assert_eq!(["dir", "/usr/bin/dir", "./x/dir"].map(called), [CalledAs::Dir; 3]);
    assert_eq!(["vdir", "/bin/vdir"].map(called), [CalledAs::Vdir; 2]);
    assert_eq!(["ls", "dls", "", "dir/", "dir/ls", "xdir"].map(called), [CalledAs::Ls; 6]);
    assert_eq!(CalledAs::Dir.format(false), Format::Columns);
    assert_eq!(CalledAs::Vdir.quoting(true), Quoting::Escape);
}
