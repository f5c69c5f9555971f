//! All code that depends on the instruction set: process start, self-relocation, system calls that rustix does not
//! offer, the clone trampoline, and the mem functions.
//!
//! [`entry!`](crate::entry) defines the functions that may exist only once in a program (`_start`, `memcpy`, …), in
//! the binary, so that this crate can also be linked beside a libc. Their bodies are here.

use core::arch::{asm, naked_asm};
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::AtomicU32;

use rustix::io::Errno;

use crate::process::Process;

// From the kernel's arch/x86/entry/syscalls/syscall_64.tbl.
const RT_SIGPROCMASK: usize = 14;
const EXECVE: usize = 59;
const RT_SIGTIMEDWAIT: usize = 128;
const EXIT: u32 = 60;
const EXIT_GROUP: usize = 231;
const SECCOMP: usize = 317;
const CLOSE_RANGE: usize = 436;

/// Body of `_start`: relocates the program if it is position-independent (feature `pie`), then calls `start`
/// with the initial stack pointer.
///
/// Static programs have relocations of one type only: the load address is added to a word. There is one for each
/// pointer in a constant table. The linker writes them as RELR (gABI, "Relative relocations": an even word is the
/// address of a word to relocate, an odd word a bit map of the 63 words after the last one), an old linker as RELA,
/// which takes 24 bytes for each.
///
/// It is in assembly because no code may load a pointer from static memory before it is done, and no compiler
/// guarantees that; a debug build loads one for every call into another crate.
#[doc(hidden)]
#[macro_export]
macro_rules! __start {
    () => {
        "
        .hidden __ehdr_start
        .weak _DYNAMIC
        .hidden _DYNAMIC
        xor ebp, ebp
        mov rdi, rsp
        lea rsi, [rip + __ehdr_start]
        lea rdx, [rip + _DYNAMIC]
        test rdx, rdx
        jz 9f
        xor r8d, r8d
        xor r9d, r9d
        xor r10d, r10d
        xor r11d, r11d
    2:  mov rax, [rdx]
        mov rcx, [rdx + 8]
        add rdx, 16
        cmp eax, 7
        cmove r8, rcx
        cmp eax, 8
        cmove r9, rcx
        cmp eax, 36
        cmove r10, rcx
        cmp eax, 35
        cmove r11, rcx
        test rax, rax
        jnz 2b

        add r8, rsi
        add r9, r8
    3:  cmp r8, r9
        jae 4f
        mov rax, [r8]
        mov rcx, [r8 + 16]
        add rcx, rsi
        mov [rsi + rax], rcx
        add r8, 24
        jmp 3b

    4:  add r10, rsi
        add r11, r10
    5:  cmp r10, r11
        jae 9f
        mov rax, [r10]
        add r10, 8
        test al, 1
        jnz 6f
        lea rdx, [rsi + rax]
        add [rdx], rsi
        add rdx, 8
        jmp 5b
    6:  mov rcx, rdx
        add rdx, 504
    7:  shr rax, 1
        jz 5b
        test al, 1
        jz 8f
        add [rcx], rsi
    8:  add rcx, 8
        jmp 7b

    9:  and rsp, -16
        call {start}
        ud2
        "
    };
}

/// Called by `_start`.
///
/// # Safety
/// `stack` is the initial stack pointer of the process. It is called once, in relocated code, before all other code.
#[doc(hidden)]
pub unsafe fn start(stack: *const usize, main: fn(Process) -> u8) -> ! {
    // SAFETY: the layout is the psABI's: argc, argv, NULL, envp, NULL; all of it stays until the process ends.
    let process = unsafe {
        let argc = *stack;
        let argv = stack.add(1);
        Process::new(argc, argv.cast(), argv.add(argc + 1).cast())
    };
    crate::started::started(process);
    exit_group(main(process))
}

/// Ends the process with all its threads. One system call.
pub(crate) fn exit_group(status: u8) -> ! {
    // SAFETY: ends the process, so no code runs afterwards.
    unsafe {
        asm!("syscall", "ud2", in("rax") EXIT_GROUP, in("rdi") usize::from(status), options(noreturn, nostack))
    }
}

/// Replaces the program; returns only if that failed.
///
/// # Safety
/// `argv` and `envp` are NULL-terminated arrays of C strings.
pub(crate) unsafe fn execve(path: &CStr, argv: *const *const c_char, envp: *const *const c_char) -> Errno {
    let result: isize;
    // SAFETY: the caller guarantees that the arrays are valid; the kernel only reads them.
    unsafe {
        asm!("syscall", inlateout("rax") EXECVE as isize => result, in("rdi") path.as_ptr(), in("rsi") argv,
            in("rdx") envp, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    Errno::from_raw_os_error(-result as i32)
}

/// Closes the descriptors from `first` to `last` that are open; since Linux 5.9. One system call.
pub(crate) fn close_range(first: u32, last: u32) -> Result<(), Errno> {
    let result: isize;
    // SAFETY: the arguments are numbers. As with any close, the caller guarantees that no thread uses these
    // descriptors any more.
    unsafe {
        asm!("syscall", inlateout("rax") CLOSE_RANGE as isize => result, in("rdi") first as usize,
            in("rsi") last as usize, in("rdx") 0, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    if result < 0 { Err(Errno::from_raw_os_error(-result as i32)) } else { Ok(()) }
}

/// Filters the calling task's system calls from now on. One system call.
///
/// # Safety
/// The program is a valid one.
pub(crate) unsafe fn set_filter(program: &crate::confine::Program) -> Result<(), Errno> {
    const SET_MODE_FILTER: usize = 1;
    // Before Linux 5.16 a filter without this flag also switched off speculative store bypass.
    const SPEC_ALLOW: usize = 4;
    let result: isize;
    // SAFETY: the kernel only reads the program, and the caller guarantees that it is valid.
    unsafe {
        asm!("syscall", inlateout("rax") SECCOMP as isize => result, in("rdi") SET_MODE_FILTER,
            in("rsi") SPEC_ALLOW, in("rdx") &raw const *program, lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    if result < 0 { Err(Errno::from_raw_os_error(-result as i32)) } else { Ok(()) }
}

/// Numbers for a filter of system calls: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/linux/audit.h.
pub(crate) mod calls {
    pub(crate) const ARCHITECTURE: u32 = 0xc000_003e;
    /// From here on, the numbers are those of the x32 ABI.
    pub(crate) const OF_X32: u32 = 0x4000_0000;
    pub(crate) const CLONE: u32 = 56;
    pub(crate) const FORK: u32 = 57;
    pub(crate) const VFORK: u32 = 58;
    pub(crate) const CLONE3: u32 = 435;
}

/// Signals as the kernel counts them: bit `n - 1` for signal `n`.
pub(crate) type SignalSet = u64;

/// Sets the calling thread's blocked signals and returns those blocked before. One system call.
pub(crate) fn set_blocked_signals(set: SignalSet) -> SignalSet {
    const SIG_SETMASK: usize = 2;
    let mut old: SignalSet = 0;
    // SAFETY: both sets are valid for 8 bytes, the size that the kernel is given. So the call cannot fail.
    unsafe {
        asm!("syscall", inlateout("rax") RT_SIGPROCMASK => _, in("rdi") SIG_SETMASK, in("rsi") &raw const set,
            in("rdx") &raw mut old, in("r10") size_of::<SignalSet>(), lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    old
}

/// Waits for one of these signals, which the calling thread blocks, and takes it. One system call.
pub(crate) fn wait_for_signal(set: SignalSet) {
    let mut result: isize = -1;
    // It fails only if a stop and a continuation interrupt it.
    while result < 0 {
        // SAFETY: the set is valid for 8 bytes, the size that the kernel is given. The pointers for the signal's data
        // and for a timeout may be null.
        unsafe {
            asm!("syscall", inlateout("rax") RT_SIGTIMEDWAIT as isize => result, in("rdi") &raw const set,
                in("rsi") 0, in("rdx") 0, in("r10") size_of::<SignalSet>(), lateout("rcx") _, lateout("r11") _,
                options(nostack));
        }
    }
}

/// Flags of [`clone`]; the kernel's include/uapi/linux/sched.h.
pub(crate) mod flags {
    pub(crate) const SIGCHLD: usize = 17;
    pub(crate) const VM: usize = 0x100;
    pub(crate) const FS: usize = 0x200;
    pub(crate) const FILES: usize = 0x400;
    pub(crate) const SIGHAND: usize = 0x800;
    pub(crate) const VFORK: usize = 0x4000;
    pub(crate) const THREAD: usize = 0x1_0000;
    pub(crate) const SYSVSEM: usize = 0x4_0000;
    pub(crate) const PARENT_SETTID: usize = 0x10_0000;
    pub(crate) const CHILD_CLEARTID: usize = 0x20_0000;
}

/// clone(2): a new task runs `entry(argument)` on a stack of its own and then exits with what it returned.
/// The parent gets the task's id. One system call, and another at the task's end.
///
/// # Safety
/// `stack_top` is the aligned end of memory that no other thread uses before the task has ended; `argument`, and
/// `tid` if the flags name it, stay valid as long. The flags have no CLONE_SETTLS, and have CLONE_VM.
pub(crate) unsafe fn clone(
    flags: usize,
    stack_top: *mut c_void,
    tid: *const AtomicU32,
    entry: unsafe extern "C" fn(*mut c_void) -> i32,
    argument: *mut c_void,
) -> Result<u32, Errno> {
    // SAFETY: the caller promises the same.
    let result = unsafe { clone_trampoline(flags, stack_top, tid, tid, entry, argument) };
    if result < 0 { Err(Errno::from_raw_os_error(-result as i32)) } else { Ok(result as u32) }
}

/// The child returns from the system call on the new stack, which has no frame to return to; so the call is in
/// assembly. Registers keep their values, so `entry` and `argument` need not be on that stack. `entry` is in r8, the
/// TLS argument of the system call, which the kernel ignores without CLONE_SETTLS.
#[unsafe(naked)]
unsafe extern "C" fn clone_trampoline(
    flags: usize,
    stack_top: *mut c_void,
    parent_tid: *const AtomicU32,
    child_tid: *const AtomicU32,
    entry: unsafe extern "C" fn(*mut c_void) -> i32,
    argument: *mut c_void,
) -> isize {
    naked_asm!(
        "mov r10, rcx",
        "mov eax, {clone}",
        "syscall",
        "test rax, rax",
        "jnz 2f",
        "xor ebp, ebp",
        "mov rdi, r9",
        "call r8",
        "mov edi, eax",
        "mov eax, {exit}",
        "syscall",
        "2: ret",
        clone = const calls::CLONE,
        exit = const EXIT,
    )
}

/// Body of `memmove`, and of `memcpy`. Up to 128 bytes, it loads everything before it stores anything, so overlap
/// needs no check. Above, it copies 64 bytes for each iteration, in the direction that overlap demands. From 2 KiB
/// on, forward copies use `rep movsb`, which the processor executes by cache lines.
#[doc(hidden)]
#[macro_export]
macro_rules! __memmove {
    () => {
        "
        mov rax, rdi
        cmp rdx, 16
        jb 6f
        cmp rdx, 32
        ja 2f
        movups xmm0, [rsi]
        movups xmm1, [rsi + rdx - 16]
        movups [rdi], xmm0
        movups [rdi + rdx - 16], xmm1
        ret
    2:  cmp rdx, 64
        ja 3f
        movups xmm0, [rsi]
        movups xmm1, [rsi + 16]
        movups xmm2, [rsi + rdx - 32]
        movups xmm3, [rsi + rdx - 16]
        movups [rdi], xmm0
        movups [rdi + 16], xmm1
        movups [rdi + rdx - 32], xmm2
        movups [rdi + rdx - 16], xmm3
        ret
    6:  cmp edx, 8
        jb 7f
        mov rcx, [rsi]
        mov r8, [rsi + rdx - 8]
        mov [rdi], rcx
        mov [rdi + rdx - 8], r8
        ret
    7:  cmp edx, 4
        jb 8f
        mov ecx, [rsi]
        mov r8d, [rsi + rdx - 4]
        mov [rdi], ecx
        mov [rdi + rdx - 4], r8d
        ret
    8:  cmp edx, 1
        jb 9f
        movzx ecx, byte ptr [rsi]
        je 8f
        movzx r8d, word ptr [rsi + rdx - 2]
        mov [rdi + rdx - 2], r8w
    8:  mov [rdi], cl
    9:  ret

    3:  movups xmm4, [rsi + rdx - 64]
        movups xmm5, [rsi + rdx - 48]
        movups xmm6, [rsi + rdx - 32]
        movups xmm7, [rsi + rdx - 16]
        cmp rdx, 128
        ja 4f
        movups xmm0, [rsi]
        movups xmm1, [rsi + 16]
        movups xmm2, [rsi + 32]
        movups xmm3, [rsi + 48]
        movups [rdi], xmm0
        movups [rdi + 16], xmm1
        movups [rdi + 32], xmm2
        movups [rdi + 48], xmm3
    2:  movups [rax + rdx - 64], xmm4
        movups [rax + rdx - 48], xmm5
        movups [rax + rdx - 32], xmm6
        movups [rax + rdx - 16], xmm7
        ret

    4:  mov rcx, rdi
        sub rcx, rsi
        cmp rcx, rdx
        jb 5f
        cmp rdx, 2048
        jae 8f
        lea r8, [rdi + rdx - 64]
    3:  movups xmm0, [rsi]
        movups xmm1, [rsi + 16]
        movups xmm2, [rsi + 32]
        movups xmm3, [rsi + 48]
        add rsi, 64
        movups [rdi], xmm0
        movups [rdi + 16], xmm1
        movups [rdi + 32], xmm2
        movups [rdi + 48], xmm3
        add rdi, 64
        cmp rdi, r8
        jb 3b
        jmp 2b
    8:  mov rcx, rdx
        rep movsb
        ret

    5:  movups xmm4, [rsi]
        movups xmm5, [rsi + 16]
        movups xmm6, [rsi + 32]
        movups xmm7, [rsi + 48]
        lea r8, [rdi + 64]
        add rsi, rdx
        add rdi, rdx
    3:  movups xmm0, [rsi - 64]
        movups xmm1, [rsi - 48]
        movups xmm2, [rsi - 32]
        movups xmm3, [rsi - 16]
        sub rsi, 64
        movups [rdi - 64], xmm0
        movups [rdi - 48], xmm1
        movups [rdi - 32], xmm2
        movups [rdi - 16], xmm3
        sub rdi, 64
        cmp rdi, r8
        ja 3b
        movups [rax], xmm4
        movups [rax + 16], xmm5
        movups [rax + 32], xmm6
        movups [rax + 48], xmm7
        ret
        "
    };
}

/// Body of `memset`: one, two or four overlapping stores up to 64 bytes; above, 64 bytes for each iteration; from 2
/// KiB on `rep stosb`.
#[doc(hidden)]
#[macro_export]
macro_rules! __memset {
    () => {
        "
        mov rax, rdi
        movzx esi, sil
        movabs rcx, 0x0101010101010101
        imul rsi, rcx
        cmp rdx, 16
        jb 4f
        movq xmm0, rsi
        punpcklqdq xmm0, xmm0
        cmp rdx, 2048
        jae 8f
        lea r8, [rdi + rdx - 64]
        cmp rdx, 64
        jbe 3f
    2:  movups [rdi], xmm0
        movups [rdi + 16], xmm0
        movups [rdi + 32], xmm0
        movups [rdi + 48], xmm0
        add rdi, 64
        cmp rdi, r8
        jb 2b
        movups [r8], xmm0
        movups [r8 + 16], xmm0
        movups [r8 + 32], xmm0
        movups [r8 + 48], xmm0
        ret
    3:  movups [rdi], xmm0
        movups [rdi + rdx - 16], xmm0
        cmp rdx, 32
        jbe 3f
        movups [rdi + 16], xmm0
        movups [rdi + rdx - 32], xmm0
    3:  ret
    4:  cmp edx, 8
        jb 5f
        mov [rdi], rsi
        mov [rdi + rdx - 8], rsi
        ret
    5:  cmp edx, 4
        jb 6f
        mov [rdi], esi
        mov [rdi + rdx - 4], esi
        ret
    6:  test edx, edx
        jz 7f
        mov [rdi], sil
        cmp edx, 1
        je 7f
        mov [rdi + rdx - 2], si
    7:  ret
    8:  mov r8, rdi
        mov eax, esi
        mov rcx, rdx
        rep stosb
        mov rax, r8
        ret
        "
    };
}

/// Body of `memcmp` and `bcmp`: 16 bytes for each iteration, of which the last overlaps the one before; below 16
/// bytes, words.
#[doc(hidden)]
#[macro_export]
macro_rules! __memcmp {
    () => {
        "
        cmp rdx, 16
        jb 5f
        sub rdx, 16
        xor ecx, ecx
    2:  movups xmm0, [rdi + rcx]
        movups xmm1, [rsi + rcx]
        pcmpeqb xmm0, xmm1
        pmovmskb eax, xmm0
        sub eax, 0xffff
        jnz 4f
        add rcx, 16
        cmp rcx, rdx
        jb 2b
        mov rcx, rdx
        movups xmm0, [rdi + rcx]
        movups xmm1, [rsi + rcx]
        pcmpeqb xmm0, xmm1
        pmovmskb eax, xmm0
        sub eax, 0xffff
        jnz 4f
        ret
    4:  bsf eax, eax
        add rcx, rax
        movzx eax, byte ptr [rdi + rcx]
        movzx edx, byte ptr [rsi + rcx]
        sub eax, edx
        ret
    5:  cmp edx, 8
        jb 6f
        mov rax, [rdi]
        mov rcx, [rsi]
        cmp rax, rcx
        jne 3f
        mov rax, [rdi + rdx - 8]
        mov rcx, [rsi + rdx - 8]
        cmp rax, rcx
        jne 3f
        xor eax, eax
        ret
    6:  cmp edx, 4
        jb 7f
        mov eax, [rdi]
        mov ecx, [rsi]
        cmp eax, ecx
        jne 3f
        mov eax, [rdi + rdx - 4]
        mov ecx, [rsi + rdx - 4]
        cmp eax, ecx
        jne 3f
        xor eax, eax
        ret
    3:  bswap rax
        bswap rcx
        cmp rax, rcx
        sbb eax, eax
        or eax, 1
        ret
    7:  xor ecx, ecx
    2:  cmp ecx, edx
        je 3f
        movzx eax, byte ptr [rdi + rcx]
        movzx r8d, byte ptr [rsi + rcx]
        inc ecx
        sub eax, r8d
        jz 2b
        ret
    3:  xor eax, eax
        ret
        "
    };
}

/// Body of `strlen`: aligned loads of 16 bytes, which cannot reach into a page that the string is not in.
#[doc(hidden)]
#[macro_export]
macro_rules! __strlen {
    () => {
        "
        mov rax, rdi
        and rax, -16
        pxor xmm0, xmm0
        movdqa xmm1, [rax]
        pcmpeqb xmm1, xmm0
        pmovmskb edx, xmm1
        mov ecx, edi
        and ecx, 15
        shr edx, cl
        test edx, edx
        jz 2f
        bsf eax, edx
        ret
    2:  add rax, 16
        movdqa xmm1, [rax]
        pcmpeqb xmm1, xmm0
        pmovmskb edx, xmm1
        test edx, edx
        jz 2b
        bsf edx, edx
        add rax, rdx
        sub rax, rdi
        ret
        "
    };
}

#[cfg(test)]
mod tests;
