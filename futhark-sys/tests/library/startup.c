// Constants that fail when a context is created: programs/kills/constant_*.fut.

#include PROGRAM

#include "client.h"

static void failing_constant(void) {
  for (int i = 0; i < 3; i++) {
    ctx = futhark_context_new(new_config());
    CHECK(ctx != NULL);
    FAILS(1);
    FAILS(futhark_context_sync(ctx));
#ifdef constant_negative_size
    struct futhark_i32_1d *x = NULL;
    FAILS(futhark_entry_get(ctx, &x));
#else
    int64_t x = 0;
    FAILS(futhark_entry_get(ctx, (void *)&x, 1));
#endif
    CHECK(x == 0);
    futhark_context_free(ctx);
  }
}

CASES(HARDENED(failing_constant))
