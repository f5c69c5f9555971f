//! The fixtures, oracles and counters that tests and benches use; not published.
//!
//! A process test is one line of flow: a **fixture** ([`zoo`], [`fixture`]) is a directory on a real file
//! system; a **case** ([`case`]) is a command line, a working directory and an environment over it; the
//! **oracle** ([`oracle`]) runs GNU `ls` and the subject on the same case, in every `--mode`, and compares
//! bytes, diagnostics and exit status, except for the [`known`] differences between GNU releases; a case
//! that differs is reduced to the smallest command that still differs ([`shrink`]) and shown ([`diff`]).
//! Beside that flow, [`syscalls`] counts the system calls of a command, and [`memory`] compares its peak memory with its
//! output.
//!
//! Cases come from lists in the tests, from [`random`] (options over fixed places) or from [`draw`] (every
//! [`options`] of GNU `ls`, any environment, pipes and [`terminal`]s, over [`tree`]s that are random too).
//!
//! [`tmux`] shows what a terminal displays. [`slowfs`] is a file system that is slow, does not answer, fails or gives wrong
//! answers; [`loopfs`] has real ones of other kinds, and [`disk`] puts one on a rotating disk.
//!
//! [`cluster`] simulates scans by many clients, which no machine here could run.
//!
//! The subject is always a finished binary: nothing here links `dls`.

pub mod case;
pub mod cluster;
pub mod coming_from;
pub mod diff;
pub mod disk;
pub mod draw;
pub mod fixture;
pub mod hostile;
pub mod kernels;
pub mod known;
pub mod loopfs;
pub mod memory;
pub mod options;
pub mod oracle;
pub mod palette;
pub mod process;
pub mod random;
pub mod rng;
pub mod shown;
pub mod shrink;
pub mod slowfs;
pub mod suite;
pub mod syscalls;
pub mod terminal;
pub mod tmux;
pub mod tree;
pub mod zoo;
