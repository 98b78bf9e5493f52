// The run-time compiler: from the text of kernels to a shared object, and back from the
// text that a program keeps of it.
#pragma once

#include <string>
#include <vector>

namespace emulated {

struct Compiled {
    bool ok;
    std::string image;  // text, as a program may keep in its cache file
    std::string log;    // of the host's compiler
};

// `options` are for the host's preprocessor: -D, -U and -I.
Compiled compile(const std::string &source, const std::vector<std::string> &options);

// The shared object in an image; empty if it is none of ours, or damaged.
std::string object_in(const char *image);

}  // namespace emulated
