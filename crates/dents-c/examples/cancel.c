/* Cancels a scan from another thread, after SECONDS or when ENTRIES were found: cancel SECONDS ENTRIES PATH */
#define _DEFAULT_SOURCE /* usleep */
#include <dents.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct limits {
  struct dents_run *run;
  double seconds;
  uint64_t entries;
};

static void *watch(void *given) {
  struct limits *limits = given;
  uint64_t entries = 0;
  for (double passed = 0; passed < limits->seconds && entries < limits->entries; passed += 0.01) {
    usleep(10000);
    dents_run_progress(limits->run, NULL, &entries);
  }
  dents_run_cancel(limits->run);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fputs("usage: cancel SECONDS ENTRIES PATH...\n", stderr);
    return 2;
  }
  const char *columns[] = {"path", NULL};
  struct limits limits = {dents_run_new(), atof(argv[1]), strtoull(argv[2], NULL, 10)};
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  pthread_t watcher;
  unsigned long long rows = 0;

  if (dents_scan(limits.run, (const char *const *)argv + 3, columns, &stream) != 0) {
    fprintf(stderr, "cancel: %s\n", dents_run_error(limits.run));
    return 2;
  }
  pthread_create(&watcher, NULL, watch, &limits);
  int error;
  while ((error = stream.get_next(&stream, &batch)) == 0 && batch.release) {
    rows += (unsigned long long)batch.length;
    batch.release(&batch);
  }
  printf("%llu rows: %s\n", rows, error ? stream.get_last_error(&stream) : "complete");
  limits.entries = 0;
  pthread_join(watcher, NULL);
  stream.release(&stream);
  dents_run_free(limits.run);
  return 0;
}
