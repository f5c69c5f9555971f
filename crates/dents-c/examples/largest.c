/* Shows the largest file below each path. Reads the columns as they are in memory, without a library for Arrow. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include <dents.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  (void)argc;
  const char *columns[] = {"path_bytes", "size", NULL};
  struct dents_run *run = dents_run_new();
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  char *largest = NULL;
  uint64_t most = 0;

  /* The arguments are passed on: paths, and options such as --type=f. */
  if (dents_scan(run, (const char *const *)argv + 1, columns, &stream) != 0) {
    fprintf(stderr, "largest: %s\n", dents_run_error(run));
    dents_run_free(run);
    return 2;
  }
  for (;;) {
    if (stream.get_next(&stream, &batch) != 0) {
      fprintf(stderr, "largest: %s\n", stream.get_last_error(&stream));
      break;
    }
    if (batch.release == NULL)
      break; /* the end */
    /* Column 0: offsets of 32 bits, and bytes. Column 1: a bit for each row that has a value, or none; and values. */
    const int32_t *offsets = batch.children[0]->buffers[1];
    const char *bytes = batch.children[0]->buffers[2];
    const uint8_t *known = batch.children[1]->buffers[0];
    const uint64_t *sizes = batch.children[1]->buffers[1];
    for (int64_t row = 0; row < batch.length; row++) {
      if (known && !(known[row / 8] >> (row % 8) & 1))
        continue; /* it could not be read */
      if (largest && sizes[row] <= most)
        continue;
      free(largest);
      most = sizes[row];
      largest = strndup(bytes + offsets[row], (size_t)(offsets[row + 1] - offsets[row]));
    }
    batch.release(&batch);
  }
  stream.release(&stream);
  struct dents_message message;
  while (dents_run_message(run, &message))
    fprintf(stderr, "largest: %s\n", message.text);
  dents_run_free(run);
  if (largest)
    printf("%" PRIu64 "\t%s\n", most, largest);
  free(largest);
  return 0;
}
