// A driver that is too old for the output of NVRTC. It is linked to a complete driver (the emulated
// device), in which dlsym finds all other functions.

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
