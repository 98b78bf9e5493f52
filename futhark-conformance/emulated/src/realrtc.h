// The real run-time compilers, which need no GPU: compile kernels for a real architecture, with
// the text and options of the program.
#pragma once

#include <string>
#include <vector>

namespace emulated {

// Programs request it by an option of this device, `--also-compile-for=sm_90`.
extern const char ALSO_FOR[];

// Empty if the compiler accepts the text, otherwise its output, or why it cannot be used.
// FUTHARK_EMULATED_NVRTC and FUTHARK_EMULATED_HIPRTC name the libraries.
std::string refused_by_nvrtc(const std::string &text, std::vector<std::string> options, const std::string &architecture);
std::string refused_by_hiprtc(const std::string &text, std::vector<std::string> options, const std::string &architecture);

}  // namespace emulated
