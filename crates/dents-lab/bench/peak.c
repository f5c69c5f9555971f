/* `peak PROGRAM [ARGUMENT]…`: runs a program, by its path, with its output thrown away, and prints the most memory it
   had resident, in KiB (`ru_maxrss`).

   The kernel counts a child's peak from its fork on, when it is still a copy of its parent; so this parent is as
   small as a process can be (about 100 KiB). Built by `cargo xtask bench`. */
#include "raw.h"

#include <linux/resource.h>

static void print(long number)
{
    char text[24];
    int at = sizeof text;
    text[--at] = '\n';
    do {
        text[--at] = '0' + number % 10;
        number /= 10;
    } while (number);
    CALL(__NR_write, 1, text + at, sizeof text - at, 0, 0, 0);
}

void run(long argc, char **argv)
{
    if (argc < 2)
        fail("usage: peak PROGRAM [ARGUMENT]...\n");
    long child = CALL(__NR_fork, 0, 0, 0, 0, 0, 0);
    if (child < 0)
        fail("peak: no process\n");
    if (child == 0) {
        long null = CALL(__NR_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0, 0, 0);
        CALL(__NR_dup2, null, 1, 0, 0, 0, 0);
        CALL(__NR_execve, argv[1], argv + 1, argv + argc + 1, 0, 0, 0);
        fail("peak: the program cannot be executed\n");
    }
    struct rusage usage;
    int status = 0;
    if (CALL(__NR_wait4, child, &status, 0, &usage, 0, 0) != child || status != 0)
        fail("peak: the program failed\n");
    print(usage.ru_maxrss);
    end(0);
}
