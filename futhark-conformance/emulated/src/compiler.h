// The run-time compiler: compiles the text of kernels to a shared object, which programs store
// as text (an image).
#pragma once

#include <string>
#include <vector>

namespace emulated {

struct Compiled {
    bool ok;
    std::string image;  // text, which a program may write to its cache file
    std::string log;    // of the host's compiler
};

// `options` are for the host's preprocessor: -D, -U and -I.
Compiled compile(const std::string &source, const std::vector<std::string> &options);

// The shared object in an image; empty if the image is invalid or damaged.
std::string object_in(const char *image);

}  // namespace emulated
