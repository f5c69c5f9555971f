/* What floor.c and peak.c have instead of a C library: system calls, a start, an end. x86-64 Linux only.

   Without libc because its start-up, 0.2 to 0.4 ms, is as long as asking for 200 files: a floor with that in it
   would flatter what is measured against it; and a parent of several MiB would hide its child's memory. */
#pragma once

#ifndef __x86_64__
#error "the bench's floor and peak are written for x86-64"
#endif

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <stddef.h>

#ifndef __NR_listxattrat
#define __NR_listxattrat 465 /* Linux 6.13; headers may be older than the kernel */
#endif

static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define CALL(nr, a, b, c, d, e, f) \
    call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

__attribute__((noreturn)) static inline void end(int status)
{
    for (;;)
        CALL(__NR_exit_group, status, 0, 0, 0, 0, 0);
}

/* Says what failed, and ends. */
__attribute__((noreturn)) static inline void fail(const char *what)
{
    size_t length = 0;
    while (what[length])
        length++;
    CALL(__NR_write, 2, what, length, 0, 0, 0);
    end(1);
}

/* `argc`, the arguments, a null and the environment stand above the initial stack pointer. */
__attribute__((noreturn, used)) void run(long argc, char **argv);
__asm__(".globl _start\n_start:\n"
        "  xor %ebp, %ebp\n"
        "  mov (%rsp), %rdi\n"
        "  lea 8(%rsp), %rsi\n"
        "  and $-16, %rsp\n"
        "  call run\n");
