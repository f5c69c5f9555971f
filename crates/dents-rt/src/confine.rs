//! Prevents a task from starting processes: a filter of system calls (seccomp(2)) refuses fork, vfork, and each clone
//! that does not make a thread. The filter applies to all programs that the task executes, and cannot be removed.
//!
//! A refused call fails with EPERM, so a program can continue without the process. clone3 passes its flags in memory,
//! which a filter cannot read: it fails with ENOSYS, and libraries then use clone. System calls of another
//! architecture have other numbers, so all of them are refused: a 32-bit program does not run.
//!
//! Since Linux 5.11 the kernel does not run the filter for system calls that it allows with any arguments.

use rustix::io::Errno;

use crate::arch::{self, calls, flags};

/// A `struct sock_filter`, one instruction of classic BPF: include/uapi/linux/filter.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

/// A `struct sock_fprog`.
#[repr(C)]
pub(crate) struct Program {
    count: u16,
    instructions: *const Instruction,
}

/// Prevents the calling task from starting processes. Two system calls.
///
/// # Errors
/// EINVAL and ENOSYS where the kernel has no such filters.
pub(crate) fn confine() -> Result<(), Errno> {
    // Without this, only root may set a filter. With it, a set-user-ID program gains no privileges.
    rustix::thread::set_no_new_privs(true)?;
    let program = Program { count: FILTER.len() as u16, instructions: FILTER.as_ptr() };
    // SAFETY: the program and its instructions live longer than the call, and the count is right.
    unsafe { arch::set_filter(&program) }
}

/// Offsets in the `struct seccomp_data` that the kernel passes to the filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The low half of the first argument; clone's flags.
const FIRST_ARGUMENT: u32 = 16;

const ALLOW: u32 = 0x7fff_0000;
const FAIL: u32 = 0x0005_0000;

/// Instructions of classic BPF: their codes are in include/uapi/linux/bpf_common.h.
const fn load(place: u32) -> Instruction {
    Instruction { code: 0x20, if_true: 0, if_false: 0, operand: place }
}

const fn answer(what: u32) -> Instruction {
    Instruction { code: 0x06, if_true: 0, if_false: 0, operand: what }
}

const IS: u16 = 0x15;
const IS_AT_LEAST: u16 = 0x35;
const HAS_BITS_OF: u16 = 0x45;

/// Skips `if_true` or `if_false` instructions, depending on the result.
const fn test(code: u16, operand: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, operand }
}

static FILTER: [Instruction; 13] = [
    load(ARCHITECTURE),
    test(IS, calls::ARCHITECTURE, 0, 8),
    load(NUMBER),
    test(IS_AT_LEAST, calls::OF_X32, 6, 0),
    test(IS, calls::FORK, 5, 0),
    test(IS, calls::VFORK, 4, 0),
    test(IS, calls::CLONE3, 4, 0),
    test(IS, calls::CLONE, 0, 4),
    load(FIRST_ARGUMENT),
    test(HAS_BITS_OF, flags::THREAD as u32, 2, 0),
    answer(FAIL | Errno::PERM.raw_os_error() as u32),
    answer(FAIL | Errno::NOSYS.raw_os_error() as u32),
    answer(ALLOW),
];
