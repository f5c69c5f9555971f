//! The parts of a libc that `dls` needs.
//!
//! | | without libc (x86-64 Linux) | on std (elsewhere, or feature `std`) |
//! |---|---|---|
//! | [`entry!`] | `_start`, panic handler, allocator, mem functions | `fn main` |
//! | [`Process`] | the initial stack | std's copies |
//! | [`thread::run`] | clone and futex | scoped threads |
//! | [`thread::replace`] | clone: in place of stuck threads | none |
//! | [`agent`] | clone: a process that shares memory | detached threads |
//! | [`child::output`], [`child::start`] | vfork-like clone, execve | `Command` |
//! | [`exit`] | exit_group | `std::process::exit` |
//!
//! This crate's build script chooses the column. It sets `dents_libc_free`, and passes it, with the link arguments,
//! to the build script of the binary's crate. `tests/programs/build.rs` is an example of such a script,
//! `tests/programs/probe.rs` of a binary.
//!
//! The crate opens no file but /dev/null, for children, and prints nothing but the line of a panic.
//!
//! It may be linked into a program that has a libc, such as a test harness: only `entry!` defines symbols, and
//! without `entry!` [`thread::run`] starts no thread.

#![no_std]

extern crate alloc;
#[cfg(not(dents_libc_free))]
extern crate std;

mod output;
mod panic;
mod process;
mod running;

pub use output::{Output, Status};
pub use process::{Process, Strings};
pub use running::{Running, Step};
/// The kernel's error number; the error of [`child::output`].
pub use rustix::io::Errno;

#[cfg(not(dents_libc_free))]
mod hosted;
#[cfg(not(dents_libc_free))]
pub use hosted::{agent, child, exit, thread};

#[cfg(dents_libc_free)]
pub mod agent;
#[cfg(dents_libc_free)]
mod allocator;
#[cfg(dents_libc_free)]
pub mod child;
#[cfg(dents_libc_free)]
mod confine;
#[cfg(dents_libc_free)]
mod guard;
#[cfg(dents_libc_free)]
mod lock;
#[cfg(dents_libc_free)]
mod stack;
#[cfg(dents_libc_free)]
mod started;
#[cfg(dents_libc_free)]
mod task;
#[cfg(dents_libc_free)]
pub mod thread;
#[cfg(dents_libc_free)]
mod x86_64;

#[cfg(dents_libc_free)]
use x86_64 as arch;

#[cfg(dents_libc_free)]
pub use allocator::Allocator;
#[cfg(dents_libc_free)]
pub use task::exit;

/// The functions that the expansion of [`entry!`] calls.
#[doc(hidden)]
pub mod __private {
    #[cfg(dents_libc_free)]
    pub use crate::arch::start;
    #[cfg(not(dents_libc_free))]
    pub use crate::hosted::start;
    #[cfg(dents_libc_free)]
    pub use crate::panic::panic;
}

/// Makes `fn(Process) -> u8` the program; its result is the exit status.
///
/// Once, in the root of a binary with `test = false` in its manifest (a test harness has a `main`), which must begin
/// with `#![cfg_attr(all(dents_libc_free, not(test)), no_std, no_main)]`, and whose crate needs the build script that
/// `tests/programs/build.rs` shows. The expansion defines what may exist only once in a program: here an ordinary
/// `main`, without libc also `_start`, the panic handler, the allocator and the mem functions.
///
/// A panic is one line on standard error, `<program>: internal error: <message> at <file>:<line>`, and status 2.
#[cfg(not(dents_libc_free))]
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::start($main)
        }
    };
}

/// Makes `fn(Process) -> u8` the program; its result is the exit status.
///
/// Once, in the root of a binary with `test = false` in its manifest (a test harness has a `main`), which must begin
/// with `#![cfg_attr(all(dents_libc_free, not(test)), no_std, no_main)]`, and whose crate needs the build script that
/// `tests/programs/build.rs` shows. The expansion defines what may exist only once in a program: `_start`, the panic
/// handler, the allocator and the mem functions; on std, just `main`.
///
/// Start-up makes no system call and allocates nothing. A panic is one line on standard error,
/// `<program>: internal error: <message> at <file>:<line>`, and status 2; so is the end of memory:
/// `<program>: memory exhausted`.
#[cfg(dents_libc_free)]
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        /// The symbols that are a program's own. Under `cfg(test)`, where lints are checked, std has its own.
        #[cfg(not(test))]
        mod __dents_rt {
            use core::arch::naked_asm;

            #[global_allocator]
            static ALLOCATOR: $crate::Allocator = $crate::Allocator::new();

            #[panic_handler]
            fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
                $crate::__private::panic(info)
            }

            unsafe extern "C" fn start(stack: *const usize) -> ! {
                // SAFETY: `_start` passes the initial stack pointer, once.
                unsafe { $crate::__private::start(stack, super::__dents_rt_main) }
            }

            // The psABI leaves rbp undefined and wants the program to zero it: that ends the chain of frames. A
            // function expects rsp to be 8 above a multiple of 16, as after a `call`.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn _start() -> ! {
                naked_asm!($crate::__start!(), start = sym start)
            }

            // memcpy has the body of memmove, and bcmp that of memcmp, although less would be enough for them.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
                naked_asm!(".globl memcpy", ".type memcpy, @function", "memcpy:", $crate::__memmove!())
            }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn memset(to: *mut u8, byte: i32, size: usize) -> *mut u8 {
                naked_asm!($crate::__memset!())
            }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, size: usize) -> i32 {
                naked_asm!(".globl bcmp", ".type bcmp, @function", "bcmp:", $crate::__memcmp!())
            }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn strlen(string: *const u8) -> usize {
                naked_asm!($crate::__strlen!())
            }

            // The standard library's object code was compiled for unwinding and refers to these. Without an unwinder
            // they are never called.
            #[unsafe(no_mangle)]
            extern "C" fn rust_eh_personality() {}
            #[unsafe(no_mangle)]
            extern "C" fn _Unwind_Resume() {}
        }

        #[cfg_attr(test, expect(dead_code))]
        fn __dents_rt_main(process: $crate::Process) -> u8 {
            $main(process)
        }
    };
}
