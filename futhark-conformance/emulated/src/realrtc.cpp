#include "realrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace emulated {

const char ALSO_FOR[] = "--also-compile-for=";

namespace {

// Both have the same functions with different prefixes.
struct Compiler {
    const char *variable, *library, *prefix;
};

const Compiler NVRTC = {"FUTHARK_EMULATED_NVRTC", "libnvrtc.so.12", "nvrtc"};
const Compiler HIPRTC = {"FUTHARK_EMULATED_HIPRTC", "libamdhip64.so", "hiprtc"};

template <class F> F function(void *library, const Compiler &compiler, const char *name) {
    return reinterpret_cast<F>(dlsym(library, (std::string(compiler.prefix) + name).c_str()));
}

std::string refused_by(const Compiler &compiler, const std::string &text, const std::vector<std::string> &options) {
    const char *named = getenv(compiler.variable);
    const char *file = named == nullptr || *named == 0 ? compiler.library : named;
    // RTLD_DEEPBIND: the library must call its own functions, and ours have the same names.
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr)
        return std::string("cannot load the real compiler: ") + dlerror() + "; set " + compiler.variable + " to its path";
    using Lists = const char *const *;
    auto create = function<int (*)(void **, const char *, const char *, int, Lists, Lists)>(library, compiler, "CreateProgram");
    auto compile = function<int (*)(void *, int, Lists)>(library, compiler, "CompileProgram");
    auto log_size = function<int (*)(void *, size_t *)>(library, compiler, "GetProgramLogSize");
    auto get_log = function<int (*)(void *, char *)>(library, compiler, "GetProgramLog");
    auto destroy = function<int (*)(void **)>(library, compiler, "DestroyProgram");
    if (create == nullptr || compile == nullptr || log_size == nullptr || get_log == nullptr || destroy == nullptr)
        return std::string(file) + " is not a run-time compiler";
    void *program = nullptr;
    if (create(&program, text.c_str(), "kernels", 0, nullptr, nullptr) != 0)
        return std::string(file) + " rejects the text";
    std::vector<const char *> list;
    for (const std::string &option : options)
        list.push_back(option.c_str());
    int result = compile(program, int(list.size()), list.data());
    std::string log;
    size_t size = 0;
    if (result != 0 && log_size(program, &size) == 0 && size > 0) {
        log.resize(size);
        get_log(program, &log[0]);
    }
    destroy(&program);
    if (result == 0)
        return "";
    constexpr int INVALID_OPTION = 5;
    if (result == INVALID_OPTION && log.find("architecture") != std::string::npos)
        return std::string("an architecture that is not known to ") + file + ": " + log.c_str();
    return std::string(file) + " failed with code " + std::to_string(result) + ":\n" + log.c_str();
}

}  // namespace

std::string refused_by_nvrtc(const std::string &text, std::vector<std::string> options, const std::string &architecture) {
    std::vector<std::string> real = {"--gpu-architecture=" + architecture};
    for (size_t i = 0; i < options.size(); i++) {
        const std::string &option = options[i];
        if (option == "-arch" || option == "--gpu-architecture")
            i++;
        else if (option.compare(0, 6, "-arch=") != 0 && option.compare(0, 19, "--gpu-architecture=") != 0)
            real.push_back(option);
    }
    return refused_by(NVRTC, text, real);
}

std::string refused_by_hiprtc(const std::string &text, std::vector<std::string> options, const std::string &architecture) {
    std::vector<std::string> real = {"--gpu-architecture=" + architecture};
    for (const std::string &option : options)
        if (option.compare(0, 19, "--gpu-architecture=") != 0)
            real.push_back(option);
    return refused_by(HIPRTC, text, real);
}

}  // namespace emulated
