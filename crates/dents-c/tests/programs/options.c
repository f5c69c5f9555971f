/* Options and entries of walks, in the directory that tests/programs/walks.rs makes: c/link leads to b, c/old is older than 1970. */
#define _GNU_SOURCE
#include <dents.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int failures;

static void check(int holds, const char *claim, const char *path) {
  if (!holds) {
    fprintf(stderr, "does not hold: %s (%s)\n", claim, path);
    failures++;
  }
}
#define CHECK(claim) check((claim), #claim, "")
#define CHECK_OF(path, claim) check((claim), #claim, path)

static struct dents_walk *open_walk(const char *root, struct dents_walk_options options) {
  const char *const roots[] = {root, NULL};
  struct dents_walk *walk;

  CHECK(dents_walk_open(&walk, roots, &options) == 0);
  return walk;
}

/* The names of a walk, in its order. */
static void check_names(const char *root, struct dents_walk_options options, const char *wanted) {
  struct dents_walk *walk = open_walk(root, options);
  const struct dents_entry *entry;
  char names[4096] = "";

  while ((entry = dents_walk_next(walk))) {
    strcat(names, entry->name);
    strcat(names, entry->errnum == 0 ? " " : entry->errnum == ELOOP ? "=loop " : "=error ");
  }
  CHECK_OF(names, strcmp(names, wanted) == 0);
  CHECK(dents_walk_error(walk) == 0);
  dents_walk_close(walk);
}

static int is_time(struct dents_time time, struct statx_timestamp other) {
  return time.sec == other.tv_sec && time.nsec == other.tv_nsec;
}

static void check_facts(const struct dents_entry *entry, uint32_t facts) {
  struct statx other;
  int has_birth;

  CHECK_OF(entry->path, statx(AT_FDCWD, entry->path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &other) == 0);
  has_birth = (other.stx_mask & STATX_BTIME) != 0;
#define FACT(bit, field, value) CHECK_OF(entry->path, entry->field == ((facts & (bit)) ? (value) : 0))
  FACT(DENTS_INO, ino, other.stx_ino);
  FACT(DENTS_MODE, mode, other.stx_mode);
  FACT(DENTS_NLINK, nlink, other.stx_nlink);
  FACT(DENTS_UID, uid, other.stx_uid);
  FACT(DENTS_GID, gid, other.stx_gid);
  FACT(DENTS_SIZE, size, other.stx_size);
  FACT(DENTS_ALLOCATED, allocated, other.stx_blocks * 512);
#define TIME(bit, field, value)                                                                                    \
  CHECK_OF(entry->path, (facts & (bit)) ? is_time(entry->field, other.value) : !entry->field.sec && !entry->field.nsec)
  TIME(DENTS_ATIME, atime, stx_atime);
  TIME(DENTS_CTIME, ctime, stx_ctime);
  TIME(DENTS_MTIME, mtime, stx_mtime);
  if (has_birth)
    TIME(DENTS_BTIME, btime, stx_btime);
  CHECK_OF(entry->path, entry->type == IFTODT(other.stx_mode));
  CHECK_OF(entry->path, (entry->link != NULL) == (entry->type == DT_LNK && (facts & DENTS_LINK)));
  if (!entry->link)
    facts &= ~(uint32_t)DENTS_LINK;
  if (!has_birth)
    facts &= ~(uint32_t)DENTS_BTIME;
  CHECK_OF(entry->path, entry->facts == facts);
}

/* Each fact alone, none, and all. */
static void facts(void) {
  for (uint32_t bit = 1; bit <= 2 * DENTS_LINK; bit *= 2) {
    struct dents_walk_options options = {0};
    options.facts = bit > DENTS_LINK ? 2 * DENTS_LINK - 1 : bit;
    struct dents_walk *walk = open_walk("c", options);
    const struct dents_entry *entry;
    int entries = 0;
    while ((entry = dents_walk_next(walk))) {
      CHECK_OF(entry->path, entry->errnum == 0);
      check_facts(entry, options.facts);
      entries++;
    }
    CHECK(entries == 5);
    dents_walk_close(walk);
  }
}

static void options(void) {
  struct dents_walk_options options = {0};

  options.flags = DENTS_SORT;
  check_names("c", options, "c .hidden x link old ");
  check_names("c/", options, "c .hidden x link old ");
  check_names(".//c/.hidden/..", options, ".//c/.hidden/.. .hidden x link old ");
  options.flags = DENTS_SORT | DENTS_SKIP_HIDDEN;
  check_names("c", options, "c link old ");
  options.flags = DENTS_SORT | DENTS_CONTENTS_FIRST;
  check_names("c", options, "x .hidden link old c ");
  options.flags = DENTS_SORT | DENTS_FOLLOW_LINKS;
  check_names("c", options, "c .hidden x link up up=loop old ");
  options.flags = DENTS_SORT;
  options.min_depth = options.max_depth = 1;
  check_names("c", options, ".hidden link old ");
  options.min_depth = 2;
  options.max_depth = 0;
  check_names("c", options, "x ");
  /* Of /proc the walk leaves the file system nowhere, and of / it would enter /proc. */
  options.flags = DENTS_SAME_FILE_SYSTEM;
  options.min_depth = 0;
  options.max_depth = 2;
  struct dents_walk *walk = open_walk("/", options);
  const struct dents_entry *entry;
  while ((entry = dents_walk_next(walk)))
    CHECK_OF(entry->path, strncmp(entry->path, "/proc/", 6) != 0);
  dents_walk_close(walk);
}

static void skips(void) {
  struct dents_walk_options options = {0};
  options.flags = DENTS_SORT;
  struct dents_walk *walk = open_walk("c", options);
  const struct dents_entry *entry;
  int entries = 0;

  while ((entry = dents_walk_next(walk))) {
    entries++;
    CHECK_OF(entry->path, strcmp(entry->name, "x") != 0);
    if (strcmp(entry->name, ".hidden") == 0)
      dents_walk_skip(walk);
  }
  CHECK(entries == 4);
  dents_walk_close(walk);
}

static void *cancel(void *walk) {
  dents_walk_cancel(walk);
  return NULL;
}

/* One request a second: whole walks would take minutes. */
static void early_ends(uint32_t threads) {
  struct dents_walk_options options = {0};
  pthread_t canceller;

  options.facts = DENTS_SIZE;
  options.rate = 1;
  options.threads = threads;
  struct dents_walk *walk = open_walk(".", options);
  pthread_create(&canceller, NULL, cancel, walk);
  while (dents_walk_next(walk))
    ;
  CHECK(dents_walk_error(walk) == ECANCELED);
  pthread_join(canceller, NULL);
  dents_walk_close(walk);
  options.timeout_ms = 20;
  walk = open_walk(".", options);
  while (dents_walk_next(walk))
    ;
  CHECK(dents_walk_error(walk) == ETIMEDOUT);
  dents_walk_close(walk);
}

int main(void) {
  facts();
  options();
  skips();
  early_ends(1);
  early_ends(2);
  return failures != 0;
}
