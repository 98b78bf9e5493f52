// NVRTC and hiprtc: the run-time compilers of CUDA and HIP.
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "compiler.h"
#include "driver.h"
#include "realrtc.h"

using namespace emulated;

namespace {

struct Source {
    std::string text, log, image;
};

enum Result { SUCCESS = 0, NO_MEMORY = 1, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

bool begins(const std::string &text, const char *with) { return text.compare(0, strlen(with), with) == 0; }

// --- NVRTC's options ----------------------------------------------------------------------

// Options that the host's compiler does not need.
bool is_known(const std::string &option) {
    static const char *const known[] = {"-default-device", "--device-as-default-execution-space", "--disable-warnings", "-w", "-lineinfo",
                                        "-use_fast_math", "--use_fast_math", "--fmad", "-fmad", "--std", "-std", "--maxrregcount",
                                        "-rdc", "--restrict", "-G", "--device-debug"};
    for (const char *name : known)
        if (option == name || begins(option, (std::string(name) + "=").c_str()))
            return true;
    return false;
}

// Returns false if NVRTC does not have an option; the log names it.
bool host_options(Source &source, const std::vector<std::string> &given, std::vector<std::string> &options) {
    std::string architecture = "520";
    for (size_t i = 0; i < given.size(); i++) {
        std::string option = given[i], value;
        bool names_it = option == "-arch" || option == "--gpu-architecture";
        if (names_it)
            value = ++i < given.size() ? given[i] : "";
        else if ((names_it = begins(option, "-arch=") || begins(option, "--gpu-architecture=")))
            value = option.substr(option.find('=') + 1);
        if (names_it) {
            size_t mark = value.find('_');
            if (mark == std::string::npos) {
                source.log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
                return false;
            }
            architecture = value.substr(mark + 1) + "0";
        } else if (begins(option, "-I")) {
            // Ignored: the system's headers would precede the compiler's own wrappers of them,
            // and CUDA's would precede ours.
        } else if (begins(option, "-D") || begins(option, "-U")) {
            options.push_back(option);
        } else if (!is_known(option)) {
            source.log = "nvrtc: error: unrecognized option " + option + " found\n";
            return false;
        }
    }
    options.push_back("-D__CUDA_ARCH__=" + architecture);
    return true;
}

// --- Shared by NVRTC and hiprtc ------------------------------------------------------------------

int compile_source(Source &source, const std::string &text, const std::vector<std::string> &options) {
    Compiled compiled = compile(text, options);
    source.log = compiled.log;
    source.image = compiled.image;
    return compiled.ok ? SUCCESS : COMPILATION;
}

// Removes the additional architectures from the options, and compiles the text with the real
// compiler for each of them. Returns false, with a log, if the compiler rejects it.
using Refused = std::string (*)(const std::string &, std::vector<std::string>, const std::string &);
bool compiles_elsewhere(Source &source, int count, const char *const *given, std::vector<std::string> &rest, Refused refused) {
    std::vector<std::string> architectures;
    for (int i = 0; i < count; i++) {
        if (begins(given[i], ALSO_FOR))
            architectures.push_back(given[i] + strlen(ALSO_FOR));
        else
            rest.push_back(given[i]);
    }
    for (const std::string &architecture : architectures) {
        std::string why = refused(source.text, rest, architecture);
        if (!why.empty()) {
            source.log = "for " + architecture + ", " + why;
            return false;
        }
    }
    return true;
}

int put_text(const std::string &text, char *to) {
    memcpy(to, text.c_str(), text.size() + 1);
    return SUCCESS;
}

int put_size(const std::string &text, size_t *size) {
    *size = text.size() + 1;
    return SUCCESS;
}

int drop(Source **source) {
    if (source == nullptr || *source == nullptr)
        return INVALID_PROGRAM;
    delete *source;
    *source = nullptr;
    return SUCCESS;
}

const char *result_text(int result, const char *const names[], int count) {
    return result >= 0 && result < count ? names[result] : "unknown result";
}

}  // namespace

// --- NVRTC -----------------------------------------------------------------------------------

EXPORT int nvrtcVersion(int *major, int *minor) {
    *major = 12;
    *minor = 1;
    return SUCCESS;
}

EXPORT int nvrtcCreateProgram(Source **source, const char *text, const char *, int headers, const char *const *, const char *const *) try {
    if (source == nullptr || text == nullptr || headers != 0)
        return INVALID_INPUT;
    *source = new Source{text, "", ""};
    return SUCCESS;
} catch (const std::exception &) {
    return NO_MEMORY;
}

EXPORT int nvrtcDestroyProgram(Source **source) { return drop(source); }

EXPORT int nvrtcCompileProgram(Source *source, int count, const char *const *given) try {
    if (source == nullptr)
        return INVALID_PROGRAM;
    std::vector<std::string> options = {"-D__CUDACC_RTC__=1", "-D__CUDACC__=1", "-D__NVCC__=1"}, rest;
    if (!compiles_elsewhere(*source, count, given, rest, refused_by_nvrtc))
        return COMPILATION;
    if (!host_options(*source, rest, options))
        return INVALID_OPTION;
    return compile_source(*source, source->text, options);
} catch (const std::exception &) {
    return NO_MEMORY;
}

EXPORT int nvrtcGetProgramLogSize(Source *source, size_t *size) { return source == nullptr ? INVALID_PROGRAM : put_size(source->log, size); }
EXPORT int nvrtcGetProgramLog(Source *source, char *to) { return source == nullptr ? INVALID_PROGRAM : put_text(source->log, to); }
EXPORT int nvrtcGetPTXSize(Source *source, size_t *size) {
    return source == nullptr || source->image.empty() ? INVALID_PROGRAM : put_size(source->image, size);
}
EXPORT int nvrtcGetPTX(Source *source, char *to) {
    return source == nullptr || source->image.empty() ? INVALID_PROGRAM : put_text(source->image, to);
}

EXPORT const char *nvrtcGetErrorString(int result) {
    static const char *const names[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT", "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION"};
    return result_text(result, names, 7);
}

// --- hiprtc ------------------------------------------------------------------------------------

EXPORT int hiprtcCreateProgram(Source **source, const char *text, const char *, int headers, const char *const *, const char *const *) try {
    if (source == nullptr || text == nullptr || headers != 0)
        return INVALID_INPUT;
    *source = new Source{text, "", ""};
    return SUCCESS;
} catch (const std::exception &) {
    return NO_MEMORY;
}

EXPORT int hiprtcDestroyProgram(Source **source) { return drop(source); }

EXPORT int hiprtcCompileProgram(Source *source, int count, const char *const *given) try {
    if (source == nullptr)
        return INVALID_PROGRAM;
    std::vector<std::string> options = {"-D__HIPCC_RTC__=1", "-D__HIPCC__=1", "-D__HIP_PLATFORM_AMD__=1", "-D__HIP_DEVICE_COMPILE__=1"}, rest;
    if (!compiles_elsewhere(*source, count, given, rest, refused_by_hiprtc))
        return COMPILATION;
    for (std::string &option : rest) {
        // On HIP programs assume 32, and do not query the device.
        if (begins(option, "-DLOCKSTEP_WIDTH="))
            option = "-DLOCKSTEP_WIDTH=" + std::to_string(WARP);
        if (begins(option, "-D"))
            options.push_back(option);
    }
    // hiprtc predefines half without a header.
    return compile_source(*source, "#include <cuda_fp16.h>\n" + source->text, options);
} catch (const std::exception &) {
    return NO_MEMORY;
}

EXPORT int hiprtcGetProgramLogSize(Source *source, size_t *size) { return source == nullptr ? INVALID_PROGRAM : put_size(source->log, size); }
EXPORT int hiprtcGetProgramLog(Source *source, char *to) { return source == nullptr ? INVALID_PROGRAM : put_text(source->log, to); }
EXPORT int hiprtcGetCodeSize(Source *source, size_t *size) {
    return source == nullptr || source->image.empty() ? INVALID_PROGRAM : put_size(source->image, size);
}
EXPORT int hiprtcGetCode(Source *source, char *to) {
    return source == nullptr || source->image.empty() ? INVALID_PROGRAM : put_text(source->image, to);
}

EXPORT const char *hiprtcGetErrorString(int result) {
    static const char *const names[] = {"HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "HIPRTC_ERROR_INVALID_INPUT", "HIPRTC_ERROR_INVALID_PROGRAM", "HIPRTC_ERROR_INVALID_OPTION",
                                        "HIPRTC_ERROR_COMPILATION"};
    return result_text(result, names, 7);
}
