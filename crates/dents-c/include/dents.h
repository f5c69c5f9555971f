/*
 * dents: scans of file trees as Arrow streams.
 *
 * This file is generated; crates/dents-c/src/lib.rs has the originals of its comments.
 */

#ifndef DENTS_H
#define DENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 One run of a command of dents: it starts the command, cancels it, and holds its messages. Each run is for one command.

 All functions may be called from any thread, also at the same time with the same run. dents_run_free must be the last call.
 */
struct dents_run;

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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Makes a run. Returns NULL if there is no memory for it.
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
 before that. Returns 2 for wrong options, or 1 if no thread can be started. Then dents_run_error has the message, and `out` is not
 written. A scan that was cancelled ends with an error of the stream. An entry that cannot be read is no such error: its row says in the
 columns asked and errno what failed, and dents_run_message returns the message.

 # Safety
 `run` is a run that was not freed, `words` and `columns` are arrays of strings as described, `out` can be written.
 */
int dents_scan(const struct dents_run *run,
               const char *const *words,
               const char *const *columns,
               struct ArrowArrayStream *out);

/*
 Runs "dents du", "top", "count", "stats" or "diff" to its end. `out` returns the rows of its --csv, in one batch. Numbers are signed
 integers of 64 bits, times are timestamps in nanoseconds.

 `words` are the command, its options and paths, and end with NULL: { "du", "--max-depth=2", "/home", NULL }.

 Returns 0 if there is a result; then the caller must release `out`. Returns 2 for wrong options, 1 if a scan file cannot be read, or 130
 if the run was cancelled. Then dents_run_error has the message, and `out` is not written.

 # Safety
 As for dents_scan.
 */
int dents_table(const struct dents_run *run,
                const char *const *words,
                struct ArrowArrayStream *out);

/*
 Runs a command that writes a file to its end: { "scan", "-o", "home.parquet", "/home", NULL }.

 Returns the exit status of the program: 0; 1 if something could not be read; 2 for wrong options; 130 if the run was cancelled. If no
 file was written, dents_run_error has the message.

 # Safety
 As for dents_scan.
 */
int dents_command(const struct dents_run *run,
                  const char *const *words);

/*
 Cancels the run, from any thread: its threads end after their present system calls.

 # Safety
 `run` is a run that was not freed.
 */
void dents_run_cancel(const struct dents_run *run);

/*
 Writes the numbers of directories and entries that the walk has found so far. Each pointer may be NULL.

 # Safety
 `run` is a run that was not freed; the others are NULL or can be written.
 */
void dents_run_progress(const struct dents_run *run, uint64_t *directories, uint64_t *entries);

/*
 Returns the reason why the last call with this run failed: a text in UTF-8, valid until the next call with the same run. It is empty if
 no call has failed.

 # Safety
 `run` is a run that was not freed.
 */
const char *dents_run_error(const struct dents_run *run);

/*
 Takes the next message of the run, about a file that could not be read. The run keeps at most 1,000 messages and drops further ones.
 Returns false if there is no message.

 # Safety
 `run` is a run that was not freed; `message` can be written.
 */
bool dents_run_message(const struct dents_run *run,
                       struct dents_message *message);

/*
 Frees a run. Its streams stay valid. NULL is allowed.

 # Safety
 `run` is NULL or a run that was not freed, and no other thread uses it.
 */
void dents_run_free(struct dents_run *run);

/*
 Returns the version of the library: "0.1.0".
 */
const char *dents_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DENTS_H */
