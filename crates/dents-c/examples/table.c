/* Shows a report of dents as lines: table du --max-depth=1 /usr */
#include <dents.h>
#include <inttypes.h>
#include <stdio.h>

/* A cell of a column of integers or of texts. */
static void show(const struct ArrowSchema *type, const struct ArrowArray *column, int64_t row) {
  const uint8_t *known = column->buffers[0];
  if (known && !(known[row / 8] >> (row % 8) & 1)) {
    fputs("-", stdout);
  } else if (type->format[0] == 'u' || type->format[0] == 'z') {
    const int32_t *offsets = column->buffers[1];
    const char *bytes = column->buffers[2];
    fwrite(bytes + offsets[row], 1, (size_t)(offsets[row + 1] - offsets[row]), stdout);
  } else {
    printf("%" PRId64, ((const int64_t *)column->buffers[1])[row]);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  struct dents_run *run = dents_run_new();
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;

  int status = dents_table(run, (const char *const *)argv + 1, &stream);
  if (status != 0) {
    fprintf(stderr, "table: %s\n", dents_run_error(run));
    dents_run_free(run);
    return status;
  }
  dents_run_free(run);
  stream.get_schema(&stream, &schema);
  stream.get_next(&stream, &batch);
  for (int64_t row = 0; row < batch.length; row++)
    for (int64_t column = 0; column < batch.n_children; column++) {
      show(schema.children[column], batch.children[column], row);
      putchar(column + 1 < batch.n_children ? '\t' : '\n');
    }
  batch.release(&batch);
  schema.release(&schema);
  stream.release(&stream);
  return 0;
}
