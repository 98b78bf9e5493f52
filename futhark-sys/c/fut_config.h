// Comes after the generated code: settings.

// Frees a text that libc allocated, such as that of `fut_report`.
static void fut_free_text(char *text) { fut_drop(text); }

// --- Settings ------------------------------------------------------------------------

#ifdef FUT_HAS_set_device
// Whether the device is `#` and a number for which the `int` of the runtime is too small.
static bool fut_is_beyond_int(const char *device) {
  int64_t number = 0;
  if (*device == '#')
    while (*++device >= '0' && *device <= '9' && number <= INT_MAX)
      number = number * 10 + (*device - '0');
  return number > INT_MAX;
}
#endif

// `yes` if `has` is 1; `no` if it is the name FUT_HAS_… of a function that this runtime lacks. Only the comma after
// the former makes `yes` the second argument.
#define FUT_IF(has, yes, no) FUT_IF_1(has, yes, no)
#define FUT_IF_1(has, yes, no) FUT_IF_2(FUT_COMMA_##has yes, no, )
#define FUT_IF_2(...) FUT_IF_3(__VA_ARGS__)
#define FUT_IF_3(ignored, chosen, ...) chosen
#define FUT_COMMA_1 ,

// Applies a setting. Returns NULL, or a malloc'ed message.
static char *fut_apply(struct futhark_context_config *cfg, const struct fut_setting *s) {
  (void)cfg;
  switch (s->what) {
#define FUT_VALUE_FLAG s->number != 0
#define FUT_VALUE_NUMBER (int)s->number
#define FUT_VALUE_TEXT s->text
#define FUT_VALUE_QUEUE (cl_command_queue)s->object
#define FUT_APPLY(setter, kind) futhark_context_config_##setter(cfg, FUT_VALUE_##kind); return NULL
#define FUT_SETTING(name, setter, other, kind, lack)                       \
  case FUT_SET_##name:                                                     \
    FUT_IF(FUT_HAS_##setter, FUT_APPLY(setter, kind),                      \
           FUT_IF(FUT_HAS_##other, FUT_APPLY(other, kind),                 \
                  return msgprintf("this backend " lack)));
#define FUT_OWN_SETTING(name)
#include "fut_settings.def"
  case FUT_SET_TUNING_PARAM:
    if (futhark_context_config_set_tuning_param(cfg, s->text, (size_t)s->number) == 0)
      return NULL;
    return msgprintf("this program has no tuning parameter `%s` on this backend", s->text);
  case FUT_SET_DEVICE:
#ifdef FUT_HAS_set_device
    if (fut_is_beyond_int(s->text))
      return msgprintf("no device has the number in `%s`", s->text);
    futhark_context_config_set_device(cfg, s->text);
    return NULL;
#else
    return msgprintf("this backend cannot select a device");
#endif
  case FUT_SET_LOG:
    return NULL;  // set by fut_configure
  default:
    return msgprintf("unknown setting number %u", s->what);
  }
}

#ifdef FUT_HAS_set_command_queue
// Checks a queue of the caller, and retains it and its context, because the runtime releases both.
// Returns NULL, or a malloc'ed message.
static char *fut_adopt_queue(const struct futhark_context_config *cfg) {
  cl_command_queue_properties properties = 0;
  cl_int err = clGetCommandQueueInfo(cfg->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (err != CL_SUCCESS)
    return msgprintf("the properties of the command queue cannot be read (OpenCL error %d)", (int)err);
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    return msgprintf("the command queue executes out of order, but the runtime relies on the order");
  if (cfg->profiling && !(properties & CL_QUEUE_PROFILING_ENABLE))
    return msgprintf("profiling needs a command queue that was created with CL_QUEUE_PROFILING_ENABLE");
  cl_context context;
  err = clGetCommandQueueInfo(cfg->queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  if (err == CL_SUCCESS)
    err = clRetainContext(context);
  if (err == CL_SUCCESS)
    err = clRetainCommandQueue(cfg->queue);
  return err == CL_SUCCESS ? NULL : msgprintf("the command queue cannot be retained (OpenCL error %d)", (int)err);
}
#endif

#if defined(FUT_BACKEND_opencl)
// Whether the options for the device's compiler fit into the runtime's buffer. Of each tuning parameter it writes the
// identifier of its name, which can be longer, but counts the name. Of the 1024 bytes for all other options, more than
// 512 are free.
static bool fut_options_fit(const struct futhark_context_config *cfg) {
  int64_t missing = 0;
#ifdef NUM_TUNING_PARAMS  // since 0.25.35
  // The runtime counts the name and 20 bytes, twice. It writes `-Dset_`, the identifier, `=`, a digit and a blank, then
  // `-Dval_`, the identifier, `=`, at most 11 digits and a blank.
  for (int64_t i = 0; i < NUM_TUNING_PARAMS; i++)
    missing += 2 * ((int64_t)strlen(cfg->tuning_params[i].var) - (int64_t)strlen(cfg->tuning_params[i].name)) + 28 - 40;
#else
  // It counts the name and 20 bytes, and writes `-D`, the identifier, `=`, at most 11 digits and a blank.
  for (int64_t i = 0; i < cfg->num_tuning_params; i++)
    missing += (int64_t)strlen(cfg->tuning_param_vars[i]) - (int64_t)strlen(cfg->tuning_param_names[i]) + 15 - 20;
#endif
  return missing <= 512;
}
#endif

// Applies all settings. Returns NULL, or a malloc'ed message.
static char *fut_configure(struct fut_context *c, const struct fut_setting *settings, uint32_t n) {
#if defined(FUT_BACKEND_opencl)
  if (!fut_options_fit(c->cfg))
    return msgprintf("the names of the program's tuning parameters are too long for the runtime; shorten those of its "
                     "entry points");
#endif
  // First, because other settings can print.
  for (uint32_t i = 0; i < n; i++)
    if (settings[i].what == FUT_SET_LOG)
      c->log = *(const struct fut_log *)settings[i].object;
  for (uint32_t i = 0; i < n; i++) {
    char *refused = fut_apply(c->cfg, &settings[i]);
    if (refused != NULL)
      return refused;
  }
#ifdef FUT_HAS_set_command_queue
  if (c->cfg->queue_set)
    return fut_adopt_queue(c->cfg);
#endif
  return NULL;
}
