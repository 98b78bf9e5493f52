#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int held, const char *what) {
  if (!held)
    printf("wrong: %s\n", what);
}

/* Whether all bytes still have their initial value. */
static int untouched(const void *memory, size_t size) {
  const unsigned char *bytes = memory;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != 0xa5)
      return 0;
  return 1;
}

/* Fills memory with different elements; booleans are 0 or 1. */
static void pattern(void *memory, size_t size, int truth) {
  unsigned char *bytes = memory;
  for (size_t i = 0; i < size; i++)
    bytes[i] = truth ? (i * 5 / 3) & 1 : 17 * i + 3;
}

/* After a failed call: the message must be reported once, and a sync must succeed. */
static void has_message(struct futhark_context *ctx, const char *what) {
  char *message = futhark_context_get_error(ctx);
  if (message == NULL || message[0] == 0)
    printf("wrong: %s failed without a message\n", what);
  free(message);
  message = futhark_context_get_error(ctx);
  if (message != NULL)
    printf("wrong: the failure of %s is reported twice: %s\n", what, message);
  free(message);
  if (futhark_context_sync(ctx) != 0)
    printf("wrong: after %s, sync fails\n", what);
}

int main(void) {
  /* Unbuffered, so that no line is lost if the next call crashes. */
  setvbuf(stdout, NULL, _IONBF, 0);
  struct futhark_context_config *cfg = futhark_context_config_new();
  check(futhark_context_config_set_tuning_param(cfg, "no such parameter", 1) != 0,
        "an unknown tuning parameter was set");
  for (int i = 0; i < futhark_get_tuning_param_count(); i++)
    check(futhark_get_tuning_param_name(i) != NULL && futhark_get_tuning_param_class(i) != NULL,
          "a tuning parameter without a name or a class");
  struct futhark_context *ctx = futhark_context_new(cfg);
  char *start = futhark_context_get_error(ctx);
  if (start != NULL) {
    /* A constant of the program failed; the check `lifecycle` tests whether it may. */
    free(start);
    futhark_context_free(ctx);
    futhark_context_config_free(cfg);
    puts("done");
    return 0;
  }
