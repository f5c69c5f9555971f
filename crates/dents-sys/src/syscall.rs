//! System calls that rustix does not have, or has only with a copy of the result.
//!
//! On x86-64 and aarch64 a few instructions make the call; on other architectures `libc::syscall` does (programs for
//! these link libc anyway). Numbers: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h.
use crate::{Errno, Result};

/// Numbers of the calls made through [`syscall`].
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
pub(crate) mod nr {
    pub(crate) const RT_SIGACTION: usize = 13;
    pub(crate) const RT_SIGPROCMASK: usize = 14;
    pub(crate) const RT_SIGPENDING: usize = 127;
    pub(crate) const RT_SIGTIMEDWAIT: usize = 128;
    pub(crate) const SCHED_GETAFFINITY: usize = 204;
    pub(crate) const GETDENTS64: usize = 217;
    #[cfg(not(feature = "libc"))]
    pub(crate) const CLOCK_GETTIME: usize = 228;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const TGKILL: usize = 234;
    pub(crate) const EVENTFD2: usize = 290;
    pub(crate) const STATX: usize = 332;
}

/// Numbers of the calls made through [`syscall`].
#[cfg(target_arch = "aarch64")]
pub(crate) mod nr {
    pub(crate) const EVENTFD2: usize = 19;
    pub(crate) const GETDENTS64: usize = 61;
    pub(crate) const EXIT_GROUP: usize = 94;
    #[cfg(not(feature = "libc"))]
    pub(crate) const CLOCK_GETTIME: usize = 113;
    pub(crate) const SCHED_GETAFFINITY: usize = 123;
    pub(crate) const TGKILL: usize = 131;
    pub(crate) const RT_SIGACTION: usize = 134;
    pub(crate) const RT_SIGPROCMASK: usize = 135;
    pub(crate) const RT_SIGPENDING: usize = 136;
    pub(crate) const RT_SIGTIMEDWAIT: usize = 137;
    pub(crate) const STATX: usize = 291;
}

/// Numbers of the calls made through [`syscall`].
#[cfg(not(any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "aarch64")))]
pub(crate) mod nr {
    pub(crate) const SCHED_GETAFFINITY: usize = libc::SYS_sched_getaffinity as usize;
    pub(crate) const GETDENTS64: usize = libc::SYS_getdents64 as usize;
    pub(crate) const STATX: usize = libc::SYS_statx as usize;
    pub(crate) const RT_SIGPROCMASK: usize = libc::SYS_rt_sigprocmask as usize;
    pub(crate) const RT_SIGPENDING: usize = libc::SYS_rt_sigpending as usize;
    pub(crate) const RT_SIGACTION: usize = libc::SYS_rt_sigaction as usize;
    pub(crate) const RT_SIGTIMEDWAIT: usize = libc::SYS_rt_sigtimedwait as usize;
    pub(crate) const EXIT_GROUP: usize = libc::SYS_exit_group as usize;
    pub(crate) const TGKILL: usize = libc::SYS_tgkill as usize;
    pub(crate) const EVENTFD2: usize = libc::SYS_eventfd2 as usize;
}

/// Calls since Linux 5.1 have the same number on all architectures, except for the offsets of MIPS, Alpha and x32.
/// For these it returns a number that no kernel has, so the program behaves as on an old kernel.
const fn unified(number: usize) -> usize {
    if cfg!(any(
        target_arch = "mips",
        target_arch = "mips64",
        target_arch = "mips32r6",
        target_arch = "mips64r6"
    )) || cfg!(all(target_arch = "x86_64", target_pointer_width = "32"))
    {
        usize::MAX >> 1
    } else {
        number
    }
}

/// `statmount`, since Linux 6.8.
pub(crate) const STATMOUNT: usize = unified(457);
/// `getxattrat`, since Linux 6.13.
pub(crate) const GETXATTRAT: usize = unified(464);
/// `listxattrat`, since Linux 6.13.
pub(crate) const LISTXATTRAT: usize = unified(465);
/// `file_getattr`, since Linux 6.17.
pub(crate) const FILE_GETATTR: usize = unified(468);

/// Makes a system call. The kernel ignores arguments that the call does not have.
///
/// # Safety
/// The arguments must be valid for the call `number`: each pointer for the memory that the call reads and writes.
#[inline(always)]
pub(crate) unsafe fn syscall(number: usize, args: [usize; 6]) -> Result<usize> {
    // SAFETY: the caller promises the same.
    let answer = unsafe { enter(number, args) };
    // The kernel reserves the last page of values for -errno.
    if answer as usize > -4096_isize as usize {
        Err(Errno::from_raw_os_error((-answer) as i32))
    } else {
        Ok(answer as usize)
    }
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
#[inline(always)]
unsafe fn enter(number: usize, args: [usize; 6]) -> isize {
    let answer: isize;
    // SAFETY: the caller guarantees valid arguments; `syscall` destroys rcx and r11 and does not touch the user
    // stack.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack, preserves_flags),
        );
    }
    answer
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn enter(number: usize, args: [usize; 6]) -> isize {
    let answer: isize;
    // SAFETY: the caller guarantees valid arguments; `svc 0` changes x0 only and does not touch the user stack.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => answer, in("x1") args[1], in("x2") args[2],
            in("x3") args[3], in("x4") args[4], in("x5") args[5],
            options(nostack, preserves_flags),
        );
    }
    answer
}

#[cfg(not(any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "aarch64")))]
#[inline]
unsafe fn enter(number: usize, args: [usize; 6]) -> isize {
    // SAFETY: the caller guarantees valid arguments; errno belongs to this thread.
    unsafe {
        match libc::syscall(number as _, args[0], args[1], args[2], args[3], args[4], args[5]) {
            -1 => -(*libc::__errno_location() as isize),
            answer => answer as isize,
        }
    }
}
