//! A program that does nothing, for measuring the cost of start-up.

#![cfg_attr(all(dents_libc_free, not(test)), no_std, no_main)]
#![forbid(unsafe_code)]

dents_rt::entry!(run);

fn run(_: dents_rt::Process) -> u8 {
    0
}
