/* `floor DIR [overlap]`: what `ls -al` must ask of the kernel, and nothing else: all names (getdents64), and of each
   entry what the columns show (statx) and the mark of an ACL (listxattrat), on all cores. It sorts, formats, keeps
   and prints nothing.

   As issue and README define the floor, the names are read first, on one thread, and then all threads ask. With
   `overlap` the others ask while the first still reads: lower where a directory is large.

   Work is handed out in the blocks that getdents64 filled, 8 KiB or some 250 entries each, through one counter: no
   copying, no list of names. Threads have descriptor tables of their own (no CLONE_FILES), so that no call counts a
   reference on the directory's descriptor. Built by `cargo xtask bench`, see bench/programs.rs there. */
#include "raw.h"

#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <stdint.h>

enum {
    BLOCK = 8192,         /* bytes asked of getdents64 at a time */
    BLOCKS = 3 << 17,     /* 3 GiB, enough for 10 million names of 250 bytes; untouched pages cost nothing */
    THREADS = 256,
    STACK = 16384,
};

struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static char *arena; /* the blocks, one after the other */
static struct { uint32_t at, length; } blocks[BLOCKS]; /* `at` in units of 8 bytes */

/* Each on a line of its own: they are written by different threads. */
static struct { _Alignas(64) unsigned value; } next, published, finished, running, refused;
static char stacks[THREADS][STACK] __attribute__((aligned(16)));
static int directory;

static const unsigned LONG = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_SIZE |
                             STATX_BLOCKS | STATX_MTIME;

/* Links carry no ACL; ENOTSUP holds for the whole file system; ENOSYS is a kernel before 6.13. */
static void mark(const struct entry *entry, char *buffer, size_t size)
{
    if (entry->type == 10 /* DT_LNK */ || __atomic_load_n(&refused.value, __ATOMIC_RELAXED) == EOPNOTSUPP)
        return;
    long answer = -ENOSYS;
    if (__atomic_load_n(&refused.value, __ATOMIC_RELAXED) != ENOSYS)
        answer = CALL(__NR_listxattrat, directory, entry->name, AT_SYMLINK_NOFOLLOW, buffer, size, 0);
    if (answer == -ENOSYS) {
        __atomic_store_n(&refused.value, ENOSYS, __ATOMIC_RELAXED);
        answer = CALL(__NR_llistxattr, entry->name, buffer, size, 0, 0, 0);
    }
    if (answer == -EOPNOTSUPP)
        __atomic_store_n(&refused.value, EOPNOTSUPP, __ATOMIC_RELAXED);
    else if (answer < 0)
        fail("floor: an attribute was not answered\n");
}

static void ask(unsigned block)
{
    char buffer[256];
    struct statx answer;
    const char *at = arena + (size_t)blocks[block].at * 8, *stop = at + blocks[block].length;
    while (at < stop) {
        const struct entry *entry = (const struct entry *)at;
        int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
        if (CALL(__NR_statx, directory, entry->name, flags, LONG, &answer, 0) < 0)
            fail("floor: an entry was not answered\n");
        mark(entry, buffer, sizeof buffer);
        at += entry->length;
    }
}

/* Takes blocks until there are none; waits, turning, for those not read yet. */
static void work(void)
{
    for (;;) {
        unsigned mine = __atomic_fetch_add(&next.value, 1, __ATOMIC_RELAXED);
        while (mine >= __atomic_load_n(&published.value, __ATOMIC_ACQUIRE)) {
            if (__atomic_load_n(&finished.value, __ATOMIC_ACQUIRE) &&
                mine >= __atomic_load_n(&published.value, __ATOMIC_ACQUIRE))
                return;
            __builtin_ia32_pause();
        }
        ask(mine);
    }
}

__attribute__((noreturn, used)) static void worker(void)
{
    work();
    if (__atomic_sub_fetch(&running.value, 1, __ATOMIC_RELEASE) == 0)
        CALL(__NR_futex, &running.value, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    for (;;)
        CALL(__NR_exit, 0, 0, 0, 0, 0, 0);
}

static void start_thread(char *stack_top)
{
    long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    long pid = __NR_clone;
    __atomic_add_fetch(&running.value, 1, __ATOMIC_RELAXED);
    /* The new thread starts on an empty stack, from which it can only call. */
    __asm__ volatile("syscall\n"
                     "  test %%eax, %%eax\n"
                     "  jnz 1f\n"
                     "  xor %%ebp, %%ebp\n"
                     "  call worker\n"
                     "1:"
                     : "+a"(pid)
                     : "D"(flags), "S"(stack_top), "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    if (pid < 0)
        fail("floor: no thread\n");
}

/* One for each core but this one, and no more than there are blocks to take. */
static void start_threads(unsigned useful)
{
    unsigned long mask[16] = { 0 };
    unsigned cores = 0;
    CALL(__NR_sched_getaffinity, 0, sizeof mask, mask, 0, 0, 0);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned long bits = mask[i]; bits; bits &= bits - 1)
            cores++;
    for (unsigned i = 1; i < cores && i < useful && i < THREADS; i++)
        start_thread(stacks[i] + STACK);
}

static void read_names(int overlap)
{
    unsigned count = 0;
    size_t used = 0;
    for (;;) {
        long got = CALL(__NR_getdents64, directory, arena + used, BLOCK, 0, 0, 0);
        if (got < 0 || count == BLOCKS)
            fail("floor: the directory does not read to its end\n");
        if (got == 0)
            break;
        blocks[count].at = used / 8;
        blocks[count].length = got;
        used += got; /* records are multiples of 8 bytes */
        __atomic_store_n(&published.value, ++count, __ATOMIC_RELEASE);
        if (overlap && count == 2)
            start_threads(THREADS);
    }
    __atomic_store_n(&finished.value, 1, __ATOMIC_RELEASE);
    if (!overlap)
        start_threads(count);
}

void run(long argc, char **argv)
{
    if (argc < 2)
        fail("usage: floor DIR [overlap]\n");
    /* llistxattr of older kernels knows no directory but the working one. */
    if (CALL(__NR_chdir, argv[1], 0, 0, 0, 0, 0) < 0)
        fail("floor: the directory cannot be entered\n");
    directory = CALL(__NR_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    long base = CALL(__NR_mmap, 0, (size_t)BLOCKS * BLOCK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (directory < 0 || (base < 0 && base > -4096))
        fail("floor: no directory, or no memory\n");
    arena = (char *)base;
    read_names(argc > 2);
    work();
    for (unsigned left; (left = __atomic_load_n(&running.value, __ATOMIC_ACQUIRE)) != 0;)
        CALL(__NR_futex, &running.value, FUTEX_WAIT_PRIVATE, left, 0, 0, 0);
    end(0);
}
