/* Calls every function with what it should not get: each call is defined, so sanitizers and valgrind find nothing. */
#define _DEFAULT_SOURCE
#include <dents.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, const char *claim) {
  if (!holds) {
    fprintf(stderr, "does not hold: %s\n", claim);
    failures++;
  }
}
#define CHECK(claim) check((claim), #claim)

static const char *const nothing[] = {NULL};
static const char *const here[] = {".", NULL};
/* More than a walk reads before it is cancelled. */
static const char *const much[] = {"/usr", NULL};

static void open_nothing(void) {
  char place;
  struct dents_walk *const before = (struct dents_walk *)&place;
  struct dents_walk *walk = before;
  struct dents_walk_options options = {0};

  CHECK(dents_walk_open(NULL, here, NULL) == EINVAL);
  CHECK(dents_walk_open(&walk, NULL, NULL) == EINVAL && walk == NULL);
  walk = before;
  CHECK(dents_walk_open(&walk, nothing, NULL) == EINVAL && walk == NULL);
  options.facts = 0x80000000;
  CHECK(dents_walk_open(&walk, here, &options) == EINVAL && walk == NULL);
  options.facts = 0;
  options.flags = 0x80000000;
  CHECK(dents_walk_open(&walk, here, &options) == EINVAL && walk == NULL);
}

static void use_nothing(void) {
  CHECK(dents_walk_next(NULL) == NULL);
  CHECK(dents_walk_error(NULL) == EINVAL);
  dents_walk_skip(NULL);
  dents_walk_cancel(NULL);
  dents_walk_close(NULL);
}

/* A walk with `threads`, used before its first entry and after its end. */
static void use_too_early_and_too_late(uint32_t threads) {
  struct dents_walk_options options = {0};
  struct dents_walk *walk;
  const struct dents_entry *entry;
  unsigned entries = 0;

  options.threads = threads;
  CHECK(dents_walk_open(&walk, here, &options) == 0);
  dents_walk_skip(walk);
  CHECK(dents_walk_error(walk) == 0);
  while ((entry = dents_walk_next(walk)))
    entries++;
  CHECK(entries == 44);
  dents_walk_skip(walk);
  dents_walk_cancel(walk);
  CHECK(dents_walk_next(walk) == NULL && dents_walk_next(walk) == NULL);
  CHECK(dents_walk_error(walk) == 0);
  dents_walk_close(walk);
  /* Closed at once, with its threads still at work. */
  CHECK(dents_walk_open(&walk, here, &options) == 0);
  dents_walk_close(walk);
  CHECK(dents_walk_open(&walk, much, &options) == 0);
  dents_walk_cancel(walk);
  while (dents_walk_next(walk))
    ;
  CHECK(dents_walk_error(walk) == ECANCELED && dents_walk_next(walk) == NULL);
  dents_walk_close(walk);
}

static void roots_that_are_none(void) {
  const char *const roots[] = {"", "missing", NULL};
  struct dents_walk *walk;
  const struct dents_entry *entry;

  CHECK(dents_walk_open(&walk, roots, NULL) == 0);
  for (int nth = 0; nth < 2; nth++) {
    entry = dents_walk_next(walk);
    CHECK(entry && entry->errnum == ENOENT && entry->depth == 0 && entry->type == DT_UNKNOWN && !entry->link);
    CHECK(entry && strcmp(entry->path, roots[nth]) == 0 && strcmp(entry->name, roots[nth]) == 0);
  }
  CHECK(dents_walk_next(walk) == NULL && dents_walk_error(walk) == 0);
  dents_walk_close(walk);
}

#ifdef DENTS_SCAN
static void runs(void) {
  struct dents_run *run = dents_run_new();
  struct ArrowArrayStream stream;
  struct dents_message message;
  uint64_t directories = 9, entries = 9;

  CHECK(dents_scan(NULL, here, NULL, &stream) == 2);
  CHECK(dents_table(NULL, here, &stream) == 2);
  CHECK(dents_command(NULL, here) == 2);
  dents_run_cancel(NULL);
  dents_run_progress(NULL, &directories, &entries);
  CHECK(directories == 0 && entries == 0);
  CHECK(dents_run_error(NULL)[0] == 0);
  CHECK(!dents_run_message(NULL, &message));
  CHECK(!dents_run_message(run, NULL));
  CHECK(dents_run_error(run)[0] == 0);
  CHECK(dents_scan(run, here, NULL, NULL) == 2 && strstr(dents_run_error(run), "NULL"));
  CHECK(dents_table(run, NULL, &stream) == 2);
  CHECK(dents_command(run, NULL) == 2);
  dents_run_progress(run, NULL, NULL);
  /* A run after it was cancelled. */
  dents_run_cancel(run);
  const char *const count[] = {"count", ".", NULL};
  CHECK(dents_table(run, count, &stream) == 130);
  dents_run_free(run);
  dents_run_free(NULL);
}
#endif

int main(void) {
  open_nothing();
  use_nothing();
  use_too_early_and_too_late(0);
  use_too_early_and_too_late(1);
  roots_that_are_none();
#ifdef DENTS_SCAN
  runs();
#endif
  return failures != 0;
}
