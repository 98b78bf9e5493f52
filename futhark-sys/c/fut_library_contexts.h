// The rest of a hardened library, after fut_library.h: configurations, contexts and their errors.

// --- Configurations -------------------------------------------------------------------------

struct futhark_context_config {
  struct fut_setting *settings;
  uint32_t n;
  uint32_t n_build_options;
  char *program;   // of get_program
  char *backends;       // names with commas; NULL: all, in their order
  const char *refused;  // why no context can be created
};

struct futhark_context_config *futhark_context_config_new(void) { return calloc(1, sizeof(struct futhark_context_config)); }

void futhark_context_config_free(struct futhark_context_config *cfg) {
  if (cfg == NULL)
    return;
  for (uint32_t i = 0; i < cfg->n; i++)
    free((char *)cfg->settings[i].text);
  free(cfg->settings);
  free(cfg->program);
  free(cfg->backends);
  free(cfg);
}

static void fut_refuse(struct futhark_context_config *cfg, const char *why) {
  if (cfg != NULL && cfg->refused == NULL)
    cfg->refused = why;
}

static void fut_set(struct futhark_context_config *cfg, uint32_t what, int64_t number, const char *text, const void *object) {
  if (cfg == NULL)
    return;
  struct fut_setting *settings = realloc(cfg->settings, (cfg->n + 1) * sizeof *settings);
  char *copy = text == NULL ? NULL : strdup(text);
  if (settings != NULL)
    cfg->settings = settings;
  if (settings == NULL || (text != NULL && copy == NULL)) {
    free(copy);
    fut_refuse(cfg, "no memory for the configuration");
    return;
  }
  settings[cfg->n++] = (struct fut_setting){what, number, copy, object};
}

// The setters: FUT_SETTER_kind(function, name of the setting).
#define FUT_SETTER_FLAG(setter, name) \
  void futhark_context_config_##setter(struct futhark_context_config *cfg, int flag) { fut_set(cfg, name, flag, NULL, NULL); }
#define FUT_SETTER_NUMBER(setter, name) \
  void futhark_context_config_##setter(struct futhark_context_config *cfg, int number) { fut_set_number(cfg, name, number); }
#define FUT_SETTER_TEXT(setter, name) \
  void futhark_context_config_##setter(struct futhark_context_config *cfg, const char *text) { fut_set_text(cfg, name, text); }
#define FUT_SETTER_QUEUE(setter, name) \
  void futhark_context_config_##setter(struct futhark_context_config *cfg, cl_command_queue queue) { fut_set(cfg, name, 0, NULL, queue); }

static void fut_set_number(struct futhark_context_config *cfg, uint32_t what, int number) {
  // The runtime makes a thread for each before it reports that one could not be made.
  if (number < 0 || (what == FUT_SET_NUM_THREADS && number > 4096))
    fut_refuse(cfg, "a setting is negative, or there are more than 4096 threads");
  else
    fut_set(cfg, what, number, NULL, NULL);
}

// Whether each word begins with `-`, except for the values of -D and -I: for a word of another form, compilers read a file.
static bool fut_is_build_option(const char *text) {
  static const char blanks[] = " \t\r\n\v\f";
  bool is_value = false, any = false;
  for (text += strspn(text, blanks); *text != 0; text += strspn(text, blanks)) {
    size_t length = strcspn(text, blanks);
    if (!is_value && (*text != '-' || length == 1))
      return false;
    is_value = length == 2 && (text[1] == 'D' || text[1] == 'I');
    any = true;
    text += length;
  }
  return any;
}

static void fut_set_text(struct futhark_context_config *cfg, uint32_t what, const char *text) {
  if (cfg == NULL || text == NULL)
    return;  // as if it had not been set
  // The runtime computes the size of its buffer for options too small; this many fit.
  if (what == FUT_SET_BUILD_OPTION && (!fut_is_build_option(text) || ++cfg->n_build_options > 64))
    fut_refuse(cfg, "build options: expected at most 64, whose words begin with -");
  else
    fut_set(cfg, what, 0, text, NULL);
}

int futhark_context_config_set_tuning_param(struct futhark_context_config *cfg, const char *param_name, size_t new_value) {
  for (uint32_t i = 0; param_name != NULL && i < fut_n_tables; i++)
    for (uint32_t k = 0; k < fut_tables[i]->n_tuning_params; k++)
      if (new_value <= INT32_MAX && strcmp(param_name, fut_tables[i]->tuning_param_name(k)) == 0) {
        fut_set(cfg, FUT_SET_TUNING_PARAM, (int64_t)new_value, param_name, NULL);
        return 0;
      }
  return 1;
}

int futhark_get_tuning_param_count(void) { return (int)fut_tables[0]->n_tuning_params; }
const char *futhark_get_tuning_param_name(int i) { return i < 0 ? NULL : fut_tables[0]->tuning_param_name((uint32_t)i); }
const char *futhark_get_tuning_param_class(int i) { return i < 0 ? NULL : fut_tables[0]->tuning_param_class((uint32_t)i); }

#ifdef FUT_HAS_context_config_set_device
void futhark_context_config_set_device(struct futhark_context_config *cfg, const char *s) { fut_set_text(cfg, FUT_SET_DEVICE, s); }
#endif

#ifdef FUT_HAS_context_config_list_devices
void futhark_context_config_list_devices(struct futhark_context_config *cfg) {
  (void)cfg;
  char *text = NULL;
  if (fut_tables[0]->devices(&text) == FUT_OK || text != NULL)
    printf("%s", text == NULL ? "" : text);
  fut_tables[0]->free_text(text);
}
#endif

#ifdef FUT_HAS_context_config_select_device_interactively
void futhark_context_config_select_device_interactively(struct futhark_context_config *cfg) {
  fut_refuse(cfg, "select_device_interactively would wait for input; use set_device");
}
#endif

#ifdef FUT_HAS_context_config_get_program
const char *futhark_context_config_get_program(struct futhark_context_config *cfg) {
  if (cfg != NULL && cfg->program == NULL)
    cfg->program = fut_tables[0]->device_source();
  return cfg == NULL ? NULL : cfg->program;
}
#endif

// Puts the tables with these names, in their order, into `chosen`, and returns their number. Counts the other names.
static uint32_t fut_choose(const char *names, const struct fut_table **chosen, uint32_t *unknown) {
  uint32_t n = 0;
  while (true) {
    size_t length = strcspn(names, ",");
    uint32_t i = 0;
    while (i < fut_n_tables && (strncmp(names, fut_tables[i]->backend, length) != 0 || fut_tables[i]->backend[length] != 0))
      i++;
    if (i < fut_n_tables && n < fut_n_tables)
      chosen[n++] = fut_tables[i];
    else
      ++*unknown;
    if (names[length] == 0)
      return n;
    names += length + 1;
  }
}

#ifdef FUT_HAS_context_config_set_backend
int futhark_context_config_set_backend(struct futhark_context_config *cfg, const char *names) {
  const struct fut_table *chosen[fut_n_tables];
  uint32_t unknown = 0;
  if (cfg == NULL || names == NULL || fut_choose(names, chosen, &unknown) == 0 || unknown != 0)
    return 1;
  char *copy = strdup(names);
  if (copy == NULL)
    return 1;
  free(cfg->backends);
  cfg->backends = copy;
  return 0;
}
#endif

// --- Contexts -----------------------------------------------------------------------------

static void fut_write_log(void *data, const char *text, size_t length) {
  const struct futhark_context *ctx = data;
  // The caller may close its file when it has freed the context, which then lives until its values are freed.
  if (!ctx->quiet)
    fwrite(text, 1, length, ctx->log == NULL ? stderr : ctx->log);
}

// The settings that the backend has. Others are for other backends of the library.
static uint32_t fut_settings_of(const struct fut_table *table, const struct futhark_context_config *cfg, struct fut_setting *settings) {
  uint32_t number = 0, n = 0;
  while (fut_tables[number] != table)
    number++;
  for (uint32_t i = 0; i < cfg->n; i++) {
    const struct fut_setting *s = &cfg->settings[i];
    bool has = fut_known_settings[number] >> s->what & 1;
    for (uint32_t k = 0; s->what == FUT_SET_TUNING_PARAM && !has && k < table->n_tuning_params; k++)
      has = strcmp(s->text, table->tuning_param_name(k)) == 0;
    if (has)
      settings[n++] = *s;
  }
  return n;
}

// Starts with the first backend that works. Otherwise returns why none does; NULL: memory is missing. A setting that a backend refuses is a mistake, and
// no reason to use the next one.
static char *fut_start_any(struct futhark_context *ctx, struct futhark_context_config *cfg) {
  const struct fut_table *chosen[fut_n_tables];
  const char *names = cfg->backends != NULL ? cfg->backends : getenv("FUTHARK_BACKEND");
  uint32_t n = fut_n_tables, unknown = 0;
  memcpy(chosen, fut_tables, sizeof chosen);
  // The variable can be meant for other libraries, too.
  if (fut_n_tables > 1 && names != NULL && *names != 0 && (n = fut_choose(names, chosen, &unknown)) == 0)
    return fut_format("this library has none of the backends in \"%s\"", names);
  struct fut_setting *settings = malloc((cfg->n + 1) * sizeof *settings);
  const struct fut_log log = {fut_write_log, ctx};
  char *why = NULL;
  bool refused = settings == NULL;
  for (uint32_t i = 0; i < n && !refused; i++) {
    ctx->table = chosen[i];
    uint32_t count = fut_settings_of(ctx->table, cfg, settings);
    settings[count++] = (struct fut_setting){FUT_SET_LOG, 0, NULL, &log};
    int32_t status = FUT_OK;
    struct fut_context *inner = ctx->table->context_new(settings, count, &status);
    if (inner != NULL && status == FUT_OK) {
      ctx->inner = inner;
      break;
    }
    char *text = inner == NULL ? NULL : fut_failure_text(ctx->table, inner);
    char *longer = fut_format("%s%s%s: %s", why == NULL ? "" : why, why == NULL ? "" : "\n", ctx->table->backend,
                              text == NULL ? "no memory for a context" : text);
    free(why);
    free(text);
    why = longer;
    refused = status == FUT_REFUSED;
    if (inner != NULL)
      ctx->table->context_free(inner);
  }
  free(settings);
  return why;
}

struct futhark_context *futhark_context_new(struct futhark_context_config *cfg) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fut_watch_forks);
  struct futhark_context *ctx = cfg == NULL ? NULL : fut_new_context();
  if (ctx == NULL)
    return NULL;
  ctx->library = &fut_forks;
  ctx->forks = fut_forks;
  ctx->last = &ctx->first;
  ctx->table = fut_tables[0];
  char *why = cfg->refused != NULL ? strdup(cfg->refused) : fut_start_any(ctx, cfg);
  if (ctx->inner != NULL) {
    free(why);
    ctx->at_rest = ctx->table->pending == NULL;
    return ctx;
  }
  ctx->why = why;
  if (why != NULL)
    fut_error(ctx, FUT_CODE_OTHER, "%s", why);
  if (ctx->errors != NULL)
    return ctx;
  futhark_context_free(ctx);  // without memory for the reason
  return NULL;
}

void futhark_context_free(struct futhark_context *ctx) {
  if (fut_is_unusable(ctx))
    return;
  pthread_mutex_lock(&ctx->lock);
  __atomic_store_n(&ctx->at_rest, false, __ATOMIC_RELAXED);
  ctx->closed = true;
  ctx->quiet = ctx->n_handles != 0;
  fut_unlock(ctx);
}

char *futhark_context_get_error(struct futhark_context *ctx) {
  const char *refusal = fut_refusal;
  if (fut_is_unusable(ctx)) {
    fut_refusal = NULL;
    return refusal == NULL ? NULL : strdup(refusal);
  }
  pthread_mutex_lock(&ctx->lock);
  struct fut_error **at = fut_own_error(ctx);
  char *text = NULL;
  if (*at != NULL) {
    text = (*at)->text;
    (*at)->text = NULL;
    fut_drop_error(at);
  }
  // A routine check on one thread must not take the error of another: it gets a copy, once.
  for (struct fut_error *error = ctx->errors; text == NULL && error != NULL; error = error->next)
    if (!error->shown) {
      text = strdup(error->text);
      error->shown = true;
    }
  pthread_mutex_unlock(&ctx->lock);
  return text;
}

// The code of a call without arguments.
#define FUT_RUN(ctx, name, out) fut_ended(ctx, fut_enter(ctx, (ctx)->table->name, out, NULL))

// As in plain C, an error of an earlier call that nobody has fetched does not fail it.
int futhark_context_sync(struct futhark_context *ctx) {
  if (!fut_is_unusable(ctx) && __atomic_load_n(&ctx->at_rest, __ATOMIC_RELAXED))
    return 0;
  FUT_LOCKED(ctx, FUT_CODE_OTHER, FUT_RUN(ctx, sync, NULL))
}

int futhark_context_clear_caches(struct futhark_context *ctx) { FUT_LOCKED(ctx, FUT_CODE_OTHER, FUT_RUN(ctx, clear_caches, NULL)) }

static int fut_pause(struct futhark_context *ctx) { FUT_LOCKED(ctx, FUT_CODE_OTHER, FUT_RUN(ctx, pause_profiling, NULL)) }
static int fut_unpause(struct futhark_context *ctx) { FUT_LOCKED(ctx, FUT_CODE_OTHER, FUT_RUN(ctx, unpause_profiling, NULL)) }
void futhark_context_pause_profiling(struct futhark_context *ctx) { (void)fut_pause(ctx); }
void futhark_context_unpause_profiling(struct futhark_context *ctx) { (void)fut_unpause(ctx); }

char *futhark_context_report(struct futhark_context *ctx) {
  char *text = NULL;
  void *out[] = {&text};
  FUT_LOCKED(ctx, NULL, (FUT_RUN(ctx, report, out), text))
}

void futhark_context_set_logging_file(struct futhark_context *ctx, FILE *f) {
  // Under the lock, because calls write to the file.
  if (!fut_lock(ctx))
    return;
  ctx->log = f;
  fut_unlock(ctx);
}

#ifdef FUT_HAS_context_get_command_queue
cl_command_queue futhark_context_get_command_queue(struct futhark_context *ctx) {
  cl_command_queue queue = NULL;
  void *out[] = {&queue};
  FUT_LOCKED(ctx, NULL, (fut_has_memory_of_header(ctx) && FUT_RUN(ctx, command_queue, out), queue))
}
#endif
