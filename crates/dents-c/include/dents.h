/*
 * dents: walks of file trees, and scans of them as Arrow streams.
 *
 * A library that was built for walks alone has no functions for scans; dents.pc then defines DENTS_WALK_ONLY, which hides them.
 *
 * This file is generated; crates/dents-c/src has the originals of its comments.
 */

#ifndef DENTS_H
#define DENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DENTS_WALK_ONLY
#define DENTS_SCAN

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

#endif /* DENTS_WALK_ONLY */

/*
 The inode number.
 */
#define DENTS_INO 1

/*
 Type and permission bits, as in st_mode.
 */
#define DENTS_MODE 2

/*
 The number of hard links.
 */
#define DENTS_NLINK 4

/*
 The user id of the owner.
 */
#define DENTS_UID 8

/*
 The group id.
 */
#define DENTS_GID 16

/*
 The size in bytes.
 */
#define DENTS_SIZE 32

/*
 The allocated space in bytes.
 */
#define DENTS_ALLOCATED 64

/*
 The time of the last access.
 */
#define DENTS_ATIME 128

/*
 The time of creation, which some file systems do not keep.
 */
#define DENTS_BTIME 256

/*
 The time of the last change of the inode.
 */
#define DENTS_CTIME 512

/*
 The time of the last change of the contents.
 */
#define DENTS_MTIME 1024

/*
 The target of a symbolic link: one readlinkat for each symbolic link, and no statx.
 */
#define DENTS_LINK 2048

/*
 Follow symbolic links: enter the directories that they lead to, and return the facts of their targets. One more statx for each
 directory. A link to a directory above it is an entry first, and an error with errnum ELOOP later; it is not entered.
 */
#define DENTS_FOLLOW_LINKS 1

/*
 Stay on the file system of each root: enter no directory on another one.
 */
#define DENTS_SAME_FILE_SYSTEM 2

/*
 Leave out entries whose names begin with a dot, and do not enter them. Roots are always returned.
 */
#define DENTS_SKIP_HIDDEN 4

/*
 Sort the entries of each directory by name, bytewise; the contents of a directory come directly after it. The walk enters
 one directory after the other.
 */
#define DENTS_SORT 8

/*
 Return a directory after its contents. The walk enters one directory after the other.
 */
#define DENTS_CONTENTS_FIRST 16

#if defined(DENTS_SCAN)
/*
 One run of a command of dents: it starts the command, cancels it, and holds its messages. Each run is for one command: with a second
 one the messages of both mix, and after dents_run_cancel the second ends at once.

 All functions may be called from any thread, also at the same time with the same run. dents_run_free must be the last call: any use of
 the run after it is undefined, as after free.
 */
struct dents_run;
#endif

/*
 A walk over everything below some roots.

 dents_walk_cancel may be called from any thread, also while another thread is in dents_walk_next. All other functions may be called
 from any thread, but not by two at the same time with the same walk: the second would wait, and then replace the entry of the first.
 Different walks are independent.

     const char *roots[] = { "/usr", NULL };
     struct dents_walk_options options = { .facts = DENTS_SIZE };
     struct dents_walk *walk;
     const struct dents_entry *entry;
     if (dents_walk_open(&walk, roots, &options) == 0) {
         while ((entry = dents_walk_next(walk)))
             if (entry->errnum == 0)
                 printf("%s %" PRIu64 "\n", entry->path, entry->size);
         dents_walk_close(walk);
     }
 */
struct dents_walk;

/*
 The options of a walk. All are 0 by default: { 0 } in C, {} in C++.
 */
struct dents_walk_options {
  /*
   The facts that each entry must have beside its name and type: DENTS_SIZE | DENTS_MTIME. All facts together, without DENTS_LINK,
   cost one statx for each entry, with exactly the mask that they need. 0: no statx.
   */
  uint32_t facts;
  /*
   DENTS_SKIP_HIDDEN and others.
   */
  uint32_t flags;
  /*
   Return no entry with a smaller depth. A root has depth 0, the entries of a root have depth 1.
   */
  uint32_t min_depth;
  /*
   Return no entry with a greater depth, and enter no directory at this depth. 0: no limit.
   */
  uint32_t max_depth;
  /*
   The number of threads. 0: one for each core where answers come from memory, more where each answer is a round trip to a server.
   1: dents_walk_next does the work, and no thread is started.
   */
  uint32_t threads;
  /*
   The limit of requests per second, of all threads together. 0: no limit.
   */
  uint32_t rate;
  /*
   End the walk after this time in milliseconds; a request in flight is not interrupted. 0: no limit.
   */
  uint32_t timeout_ms;
};

/*
 A time: seconds since 1970-01-01 00:00:00 UTC, negative before it, and 0 to 999,999,999 nanoseconds after that second.
 */
struct dents_time {
  /*
   Seconds.
   */
  int64_t sec;
  /*
   Nanoseconds.
   */
  uint32_t nsec;
};

/*
 An entry of a walk, or the error of a file or directory. The walk owns it, with its strings: they are valid until the next call of
 dents_walk_next or dents_walk_close with the same walk. Facts that were not requested, or are not known, are 0.
 */
struct dents_entry {
  /*
   The path, byte for byte. It begins with the root as given.
   */
  const char *path;
  /*
   The name: the last component of the path; the whole path if it has none ("/", "..").
   */
  const char *name;
  /*
   The target of a symbolic link; NULL for other types, or if it is not known.
   */
  const char *link;
  /*
   0 for a root, 1 for the entries of a root.
   */
  uint32_t depth;
  /*
   The error number of the call that failed for this path; 0 for an entry without error. Then only path, name and depth are known.
   A directory that cannot be opened or read is an entry first, and an error later.
   */
  int errnum;
  /*
   The facts that are known, of those requested: without DENTS_BTIME if the file system does not keep it.
   */
  uint32_t facts;
  /*
   Type and permission bits.
   */
  uint32_t mode;
  /*
   The user id of the owner.
   */
  uint32_t uid;
  /*
   The group id.
   */
  uint32_t gid;
  /*
   The inode number.
   */
  uint64_t ino;
  /*
   The number of hard links.
   */
  uint64_t nlink;
  /*
   The size in bytes.
   */
  uint64_t size;
  /*
   The allocated space in bytes.
   */
  uint64_t allocated;
  /*
   The time of the last access.
   */
  struct dents_time atime;
  /*
   The time of creation.
   */
  struct dents_time btime;
  /*
   The time of the last change of the inode.
   */
  struct dents_time ctime;
  /*
   The time of the last change of the contents.
   */
  struct dents_time mtime;
  /*
   The type, as d_type of readdir(3): DT_REG, DT_DIR, DT_LNK and others of dirent.h; DT_UNKNOWN (0) for an error.
   */
  uint8_t type;
};

#if defined(DENTS_SCAN)
/*
 A message of a run, as the program writes it to standard error. Its pointers are valid until the next call of dents_run_message
 or dents_run_free with the same run.
 */
struct dents_message {
  /*
   The text, in UTF-8: names are quoted and escaped.
   */
  const char *text;
  /*
   The file or directory for which a system call failed, byte for byte; NULL if the message is about no file.
   */
  const char *path;
  /*
   The error number of the call; 0 if there is none.
   */
  int errnum;
};
#endif

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of the library: "0.1.0".
 */
const char *dents_version(void);

/*
 Starts a walk. Its threads read directories from now on. They wait if the caller takes no entries, so that memory is bounded.

 `roots` are paths, and end with NULL: { "/usr", "/home", NULL }. A root that is a symbolic link is followed. `options` may be NULL:
 names and types alone, hidden files too, no limit. A directory costs openat, getdents64 once or twice, and close; facts
 cost what dents_walk_options says.

 Returns 0 and writes the walk to `walk`; dents_walk_close must free it. Returns EINVAL, and writes NULL, if there is no root, or if the
 options have unknown facts or flags; EINVAL if `walk` is NULL. A root that cannot be opened is no such error: dents_walk_next returns it.

 # Safety
 `walk` is NULL or can be written. `roots` is NULL or an array of strings that ends with NULL. `options` is NULL or points to options.
 */
int dents_walk_open(struct dents_walk **walk,
                    const char *const *roots,
                    const struct dents_walk_options *options);

/*
 Returns the next entry, or the next error of a file or directory (see errnum), which does not end the walk. A directory comes before
 its contents, unless DENTS_CONTENTS_FIRST is set; otherwise the order is not specified, unless DENTS_SORT is set.

 Returns NULL at the end, and from then on. Then dents_walk_error says whether everything was seen. NULL if `walk` is NULL.

 # Safety
 `walk` is NULL or a walk that was not closed.
 */
const struct dents_entry *dents_walk_next(struct dents_walk *walk);

/*
 Leaves out what is left of a directory: of the directory that dents_walk_next returned last; if the last entry was no directory, of
 the one that contains it. Nothing more from there, or from below, is returned. Threads may have read some of it before. Does nothing
 before the first entry, after the end, or if `walk` is NULL.

 # Safety
 As for dents_walk_next.
 */
void dents_walk_skip(struct dents_walk *walk);

/*
 Ends a walk, from any thread or from a signal handler: its threads stop after their requests in flight. Entries that were found before
 may still be returned. Does nothing if `walk` is NULL.

 # Safety
 As for dents_walk_next; dents_walk_close was not called yet.
 */
void dents_walk_cancel(const struct dents_walk *walk);

/*
 Returns why the walk ended before everything was seen: ECANCELED after dents_walk_cancel, ETIMEDOUT after timeout_ms, ENOTRECOVERABLE
 after a panic in the library, which is a bug. Returns 0 if dents_walk_next has not returned NULL, or if everything was seen but
 entries with an errnum; EINVAL if `walk` is NULL.

 # Safety
 As for dents_walk_next.
 */
int dents_walk_error(const struct dents_walk *walk);

/*
 Ends a walk, at its end or before, and frees it with its entry. Waits until the request in flight of each thread is answered. NULL is
 allowed.

 # Safety
 `walk` is NULL or a walk that was not closed, and no other thread uses it. Any use of the walk or its entry after this call is
 undefined, as after free.
 */
void dents_walk_close(struct dents_walk *walk);

#if defined(DENTS_SCAN)
/*
 Makes a run. Returns NULL after a panic in the library, which is a bug.
 */
struct dents_run *dents_run_new(void);

/*
 Starts a scan; the stream `out` returns its batches while the scan runs. Threads of the library do the work. They wait if the caller
 does not take their batches.

 `words` are options and paths of "dents scan", and end with NULL: { "--type=f", "--older=365d", "/scratch", NULL }.
 `columns` are names of columns, and end with NULL; NULL means all: path, path_bytes, parent, parent_bytes, name, name_bytes, extension,
 depth, type, ino, dev, nlink, mode, uid, gid, user, group, size, allocated, atime, btime, ctime, mtime, target, target_bytes, asked,
 errno, lazy. The scan requests from the kernel only the facts that the columns and the options need: path and type cost no stat.
 path, parent, name and target are null where the bytes are not UTF-8; the columns with _bytes always have them.

 Returns 0 if the scan was started. Then the caller must release `out`, which stops the scan if it has not ended; the run may be freed
 before that. Returns 2 for wrong options, or if `run` or `out` is NULL; 1 if no thread can be started. Then dents_run_error has the
 message, and `out` is not written. A scan that was cancelled ends with an error of the stream. An entry that cannot be read is no such
 error: its row says in the columns asked and errno what failed, and dents_run_message returns the message.

 # Safety
 `run` is NULL or a run that was not freed, `words` and `columns` are NULL or arrays of strings as described, `out` is NULL or can be
 written.
 */
int dents_scan(const struct dents_run *run,
               const char *const *words,
               const char *const *columns,
               struct ArrowArrayStream *out);

/*
 Runs "dents du", "top", "count", "stats" or "diff" to its end. `out` returns the rows of its --csv, in one batch. Numbers are signed
 integers of 64 bits, times are timestamps in nanoseconds.

 `words` are the command, its options and paths, and end with NULL: { "du", "--max-depth=2", "/home", NULL }.

 Returns 0 if there is a result; then the caller must release `out`. Returns 2 for wrong options, or if `run` or `out` is NULL; 1 if a
 scan file cannot be read; 130 if the run was cancelled. Then dents_run_error has the message, and `out` is not written.

 # Safety
 As for dents_scan.
 */
int dents_table(const struct dents_run *run,
                const char *const *words,
                struct ArrowArrayStream *out);

/*
 Runs a command that writes a file to its end: { "scan", "-o", "home.parquet", "/home", NULL }.

 Returns the exit status of the program: 0; 1 if something could not be read; 2 for wrong options, or if `run` is NULL; 130 if the run was
 cancelled. If no file was written, dents_run_error has the message.

 # Safety
 As for dents_scan.
 */
int dents_command(const struct dents_run *run,
                  const char *const *words);

/*
 Cancels the run, from any thread or from a signal handler: its threads end after their present system calls. Does nothing if `run` is
 NULL.

 # Safety
 `run` is NULL or a run that was not freed.
 */
void dents_run_cancel(const struct dents_run *run);

/*
 Writes the numbers of directories and entries that the walk has found so far. Each pointer may be NULL; without
 a run, the numbers are 0.

 # Safety
 `run` is NULL or a run that was not freed; the others are NULL or can be written.
 */
void dents_run_progress(const struct dents_run *run,
                        uint64_t *directories,
                        uint64_t *entries);

/*
 Returns the reason why the last call with this run failed: a text in UTF-8, valid until the next call with the same run. It is empty if
 no call has failed, or if `run` is NULL.

 # Safety
 `run` is NULL or a run that was not freed.
 */
const char *dents_run_error(const struct dents_run *run);

/*
 Takes the next message of the run, about a file that could not be read. The run keeps at most 1,000 messages and drops further ones.
 Returns false if there is no message, or if an argument is NULL.

 # Safety
 `run` is NULL or a run that was not freed; `message` is NULL or can be written.
 */
bool dents_run_message(const struct dents_run *run,
                       struct dents_message *message);

/*
 Frees a run. Its streams stay valid. NULL is allowed.

 # Safety
 `run` is NULL or a run that was not freed, and no other thread uses it.
 */
void dents_run_free(struct dents_run *run);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DENTS_H */
