// The real run-time compilers, which need no card: whether kernels compile for a real
// architecture, asked with the very text and options that a program hands over.
#pragma once

#include <string>
#include <vector>

namespace emulated {

// Programs ask by an option that no real compiler has, `--also-compile-for=sm_90`.
extern const char ALSO_FOR[];

// Empty if the compiler takes the text; otherwise what it says, or why there is none.
// The libraries are named in FUTHARK_EMULATED_NVRTC and FUTHARK_EMULATED_HIPRTC.
std::string refused_by_nvrtc(const std::string &text, std::vector<std::string> options, const std::string &architecture);
std::string refused_by_hiprtc(const std::string &text, std::vector<std::string> options, const std::string &architecture);

}  // namespace emulated
