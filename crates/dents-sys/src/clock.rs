//! Clocks.
//!
//! These are plain system calls. The vDSO would save a tenth of a microsecond for each reading, but to find it (auxv,
//! its ELF headers) costs some microseconds, more than the few readings of a listing save.
use crate::Timestamp;

#[cfg(all(
    not(feature = "libc"),
    any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "aarch64")
))]
fn read(clock: usize) -> Timestamp {
    let mut timespec = [0_i64; 2];
    // SAFETY: the kernel writes one `struct timespec` there, two 64-bit words on these architectures.
    let answer = unsafe {
        let args = [clock, timespec.as_mut_ptr() as usize, 0, 0, 0, 0];
        crate::syscall::syscall(crate::syscall::nr::CLOCK_GETTIME, args)
    };
    // These clocks always exist; if a filter refuses the call, the result is the epoch.
    debug_assert!(answer.is_ok());
    Timestamp { sec: timespec[0], nsec: timespec[1] as u32 }
}

#[cfg(any(
    feature = "libc",
    not(any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "aarch64"))
))]
fn read(clock: usize) -> Timestamp {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(match clock {
        REALTIME => ClockId::Realtime,
        PROCESS_CPU => ClockId::ProcessCPUTime,
        _ => ClockId::Monotonic,
    });
    Timestamp { sec: time.tv_sec, nsec: time.tv_nsec as u32 }
}

const REALTIME: usize = 0;
const MONOTONIC: usize = 1;
const PROCESS_CPU: usize = 2;

/// Nanoseconds since some moment before this process began. Only differences have a meaning.
pub fn monotonic_ns() -> u64 {
    let now = read(MONOTONIC);
    now.sec as u64 * 1_000_000_000 + u64::from(now.nsec)
}

/// Processor time of all threads of this process in nanoseconds, in the kernel and outside it.
pub fn process_cpu_ns() -> u64 {
    let used = read(PROCESS_CPU);
    used.sec as u64 * 1_000_000_000 + u64::from(used.nsec)
}

/// The time of day.
pub fn realtime() -> Timestamp {
    read(REALTIME)
}
