// A driver that is too old for what NVRTC writes. It is linked to a whole one (the emulated
// device), in which dlsym finds every function that is not here.

int cuModuleLoadData(void **module, const void *image);
int cuGetErrorString(int result, const char **text);

int cuModuleLoadData(void **module, const void *image) {
  (void)module;
  (void)image;
  return 222;
}

int cuGetErrorString(int result, const char **text) {
  *text = result == 222 ? "the provided PTX was compiled with an unsupported toolchain." : "another error";
  return 0;
}
