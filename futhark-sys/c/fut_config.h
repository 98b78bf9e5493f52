// Comes after the generated code: settings, descriptions of devices, and files of device code.

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
#define FUT_APPLY(setter, value) futhark_context_config_##setter(cfg, value); return NULL
#define FUT_SETTING(name, setter, other, value, lack)                      \
  case FUT_SET_##name:                                                     \
    FUT_IF(FUT_HAS_##setter, FUT_APPLY(setter, value),                     \
           FUT_IF(FUT_HAS_##other, FUT_APPLY(other, value),                \
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

// Applies all settings. Returns NULL, or a malloc'ed message.
static char *fut_configure(struct fut_context *c, const struct fut_setting *settings, uint32_t n) {
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

// --- Devices --------------------------------------------------------------------------------

#if FUT_GPU_BACKEND
// Adds the lines of one device to `text`, which `futhark_table.h` documents. Takes ownership of `text`.
// Returns NULL if memory is missing.
static char *fut_add_device(char *text, const char *platform, const char *version, const char *name, const char *driver,
                            uint64_t memory) {
  const char *fields[] = {platform, version, name, driver};
  char *copies[4];
  for (int i = 0; i < 4; i++) {
    copies[i] = fut_text("%s", fields[i]);
    for (char *at = copies[i]; at != NULL && *at != 0; at++)
      if (*at == '\n' || *at == '\r')
        *at = ' ';
  }
  char *all = NULL;
  if (copies[0] != NULL && copies[1] != NULL && copies[2] != NULL && copies[3] != NULL)
    all = fut_text("%s%s\n%s\n%s\n%s\n%llu\n", text == NULL ? "" : text, copies[0], copies[1], copies[2], copies[3],
                   (unsigned long long)memory);
  for (int i = 0; i < 4; i++)
    fut_drop(copies[i]);
  fut_drop(text);
  return all;
}

#if defined(FUT_BACKEND_opencl)
static char *fut_add_this_device(char *text, cl_device_id device) {
  cl_platform_id platform;
  OPENCL_SUCCEED_FATAL(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
  cl_ulong memory = 0;
  OPENCL_SUCCEED_FATAL(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
  char *platform_name = opencl_platform_info(platform, CL_PLATFORM_NAME);
  char *version = opencl_platform_info(platform, CL_PLATFORM_VERSION);
  char *name = opencl_device_info(device, CL_DEVICE_NAME);
  char *driver = opencl_device_info(device, CL_DRIVER_VERSION);
  text = fut_add_device(text, platform_name, version, name, driver, memory);
  free(platform_name);
  free(version);
  free(name);
  free(driver);
  return text;
}

static char *fut_add_all_devices(void) {
  struct opencl_device_option *devices;
  size_t n;
  opencl_all_device_options(&devices, &n);
  char *text = fut_text("");
  for (size_t i = 0; i < n; i++) {
    if (text != NULL)
      text = fut_add_this_device(text, devices[i].device);
    free(devices[i].platform_name);
    free(devices[i].device_name);
  }
  free(devices);
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->device

#elif defined(FUT_BACKEND_cuda)
static char *fut_add_this_device(char *text, CUdevice device) {
  int version = 0;
  CUDA_SUCCEED_FATAL(cuDriverGetVersion(&version));
  char name[256] = "";
  CUDA_SUCCEED_FATAL(cuDeviceGetName(name, sizeof name, device));
  size_t memory = 0;
  CUDA_SUCCEED_FATAL(cuDeviceTotalMem(&memory, device));
  char driver[32];
  snprintf(driver, sizeof driver, "%d.%d", version / 1000, version % 1000 / 10);
  return fut_add_device(text, "CUDA", driver, name, driver, memory);
}

static char *fut_add_all_devices(void) {
  int n = 0;
  CUDA_SUCCEED_FATAL(cuDeviceGetCount(&n));
  char *text = fut_text("");
  for (int i = 0; i < n && text != NULL; i++) {
    CUdevice device;
    CUDA_SUCCEED_FATAL(cuDeviceGet(&device, i));
    text = fut_add_this_device(text, device);
  }
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->dev

#elif defined(FUT_BACKEND_hip)
static char *fut_add_this_device(char *text, hipDevice_t device) {
  int version = 0;
  HIP_SUCCEED_FATAL(hipDriverGetVersion(&version));
  hipDeviceProp_t properties;
  HIP_SUCCEED_FATAL(hipGetDeviceProperties(&properties, device));
  char driver[32];
  snprintf(driver, sizeof driver, "%d", version);
  return fut_add_device(text, "HIP", driver, properties.name, driver, properties.totalGlobalMem);
}

static char *fut_add_all_devices(void) {
  int n = 0;
  HIP_SUCCEED_FATAL(hipGetDeviceCount(&n));
  char *text = fut_text("");
  for (int i = 0; i < n && text != NULL; i++) {
    hipDevice_t device;
    HIP_SUCCEED_FATAL(hipDeviceGet(&device, i));
    text = fut_add_this_device(text, device);
  }
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->dev
#endif

static int32_t fut_list_devices(struct fut_context *c, char **text) {
  FUT_ENTER(c)
  *text = fut_add_all_devices();
  fut_pop_guard();
  return FUT_OK;
}

static int32_t fut_devices(char **text) {
  *text = fut_driver_ready();
  if (*text != NULL)
    return FUT_UNAVAILABLE;
  struct fut_context *c = fut_make_context();
  if (c == NULL)
    return FUT_MEMORY;
  int32_t status = fut_list_devices(c, text);
  if (status == FUT_OK && *text == NULL)
    status = FUT_MEMORY;
  else if (status != FUT_OK)
    *text = fut_text("%s%s", c->failures[0].words == NULL ? "" : c->failures[0].words,
                     c->failures[0].text == NULL ? "" : c->failures[0].text);
  fut_release_context(c);
  return status;
}

static int32_t fut_context_device(struct fut_context *c, void *const *out, const void *const *in) {
  (void)in;
  *(char **)out[0] = NULL;
  FUT_ENTER(c)
  FUT_IDLE(c)
  *(char **)out[0] = fut_add_this_device(NULL, FUT_DEVICE_OF_CONTEXT(c->ctx));
  fut_pop_guard();
  return FUT_OK;
}
#else
#define fut_devices NULL
#define fut_context_device NULL
#endif

#if defined(FUT_BACKEND_opencl)
// Selects the device with the same generated function as context_new, and describes it in `text`.
static int32_t fut_choose_device(struct fut_context *c, const struct fut_setting *settings, uint32_t n, char **text) {
  FUT_ENTER(c)
  c->cfg = futhark_context_config_new();
  char *refused = NULL;
  for (uint32_t i = 0; i < n && refused == NULL; i++)
    refused = fut_apply(c->cfg, &settings[i]);
  // The function writes only the field `error`.
  struct futhark_context *ctx = calloc(1, sizeof *ctx);
  if (refused == NULL && c->cfg->queue_set) {
    cl_device_id device;
    OPENCL_SUCCEED_FATAL(clGetCommandQueueInfo(c->cfg->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
    *text = fut_add_this_device(NULL, device);
  } else if (refused == NULL) {
    struct opencl_device_option device = get_preferred_device(ctx, c->cfg);
    if (ctx->error == NULL) {
      *text = fut_add_this_device(NULL, device.device);
      free(device.platform_name);
      free(device.device_name);
    }
  }
  free(refused);
  free(ctx->error);
  free(ctx);
  futhark_context_config_free(c->cfg);
  fut_pop_guard();
  return FUT_OK;
}

static char *fut_device(const struct fut_setting *settings, uint32_t n) {
  char *why = fut_driver_ready();
  fut_drop(why);
  struct fut_context *c = why == NULL ? fut_make_context() : NULL;
  if (c == NULL)
    return NULL;
  char *text = NULL;
  (void)fut_choose_device(c, settings, n, &text);
  fut_release_context(c);
  return text;
}

static int32_t fut_command_queue(struct fut_context *c, void *const *out, const void *const *in) {
  (void)in;
  *(cl_command_queue *)out[0] = NULL;
  FUT_ENTER(c)
  FUT_IDLE(c)
  *(cl_command_queue *)out[0] = futhark_context_get_command_queue(c->ctx);
  fut_pop_guard();
  return FUT_OK;
}
#else
#define fut_device NULL
#define fut_command_queue NULL
#endif

// --- Device code ----------------------------------------------------------------------------

#ifdef FUT_HAS_get_program
static int32_t fut_copy_source(struct fut_context *c, char **text) {
  FUT_ENTER(c)
  c->cfg = futhark_context_config_new();
  *text = fut_text("%s", futhark_context_config_get_program(c->cfg));
  futhark_context_config_free(c->cfg);
  fut_pop_guard();
  return FUT_OK;
}

static char *fut_device_source(void) {
  struct fut_context *c = fut_make_context();
  if (c == NULL)
    return NULL;
  char *text = NULL;
  (void)fut_copy_source(c, &text);
  fut_release_context(c);
  return text;
}
#else
#define fut_device_source NULL
#endif

