//! The least a program can do, for measuring what start-up costs.

#![cfg_attr(all(dents_libc_free, not(test)), no_std, no_main)]
#![forbid(unsafe_code)]

dents_rt::entry!(run);

fn run(_: dents_rt::Process) -> u8 {
    0
}
