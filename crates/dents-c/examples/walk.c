/* Shows type, size, seconds of the last change and path of everything below each PATH, sorted: walk PATH... */
#define _DEFAULT_SOURCE /* DT_DIR and others */
#include <dents.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char letter(uint8_t type) {
  switch (type) {
  case DT_DIR:
    return 'd';
  case DT_REG:
    return 'f';
  case DT_LNK:
    return 'l';
  default:
    return '?';
  }
}

int main(int argc, char **argv) {
  struct dents_walk_options options = {0};
  struct dents_walk *walk;
  const struct dents_entry *entry;
  int status = 0;

  (void)argc;
  options.facts = DENTS_SIZE | DENTS_MTIME | DENTS_LINK;
  options.flags = DENTS_SORT;
  int error = dents_walk_open(&walk, (const char *const *)argv + 1, &options);
  if (error != 0) {
    fprintf(stderr, "walk: %s\n", strerror(error));
    return 2;
  }
  while ((entry = dents_walk_next(walk))) {
    if (entry->errnum != 0) {
      fprintf(stderr, "walk: %s: %s\n", entry->path, strerror(entry->errnum));
      status = 1;
      continue;
    }
    const char *link = entry->link ? entry->link : "";
    printf("%c %" PRIu64 " %" PRId64 " %s%s%s\n", letter(entry->type), entry->size, entry->mtime.sec, entry->path,
           entry->link ? " -> " : "", link);
  }
  if ((error = dents_walk_error(walk)) != 0) {
    fprintf(stderr, "walk: %s\n", strerror(error));
    status = 1;
  }
  dents_walk_close(walk);
  return status;
}
