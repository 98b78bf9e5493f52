// Prints a profiling report, and the text of an error, in the locale of the environment.

#include <locale.h>
#include "texts.h"

int main(void) {
  int64_t xs[1000] = {0}, sum;
  if (setlocale(LC_ALL, "") == NULL)
    return 2;
  struct futhark_context_config *cfg = futhark_context_config_new();
  futhark_context_config_set_profiling(cfg, 1);
  struct futhark_context *ctx = futhark_context_new(cfg);
  struct futhark_i64_1d *array = futhark_new_i64_1d(ctx, xs, 1000);
  if (futhark_entry_sum(ctx, &sum, array, 999) != 0 || futhark_context_sync(ctx) != 0)
    return 3;
  printf("%s\n", futhark_context_report(ctx));
  if (futhark_entry_sum(ctx, &sum, array, 1000) == 0)
    return 4;
  printf("%.1f\n%s", 0.5, futhark_context_get_error(ctx));
  return 0;
}
