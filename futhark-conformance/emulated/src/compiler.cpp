#include "compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "grid.h"
#include "settings.h"

extern char **environ;

namespace emulated {

namespace {

const char IMAGE[] = "// Image of the emulated device: a shared object, in base64.\n";
const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

bool write_file(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    return bool(file.flush());
}

// --- Images ------------------------------------------------------------------------------

// Names cache files, and detects damaged ones: a damaged shared object would crash the loader. Eight bytes
// at a time, because every start of a program hashes all of its kernels.
uint64_t hash(const std::string &bytes, uint64_t seed = 0) {
    uint64_t h = seed ^ bytes.size() * 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < bytes.size(); i += sizeof h) {
        uint64_t word = 0;
        memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
    }
    return h;
}

std::string hex(uint64_t n) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
    return text;
}

// In base64, because programs store an image as text that ends at the first NUL.
std::string image_of(const std::string &object) {
    std::string image = IMAGE + hex(hash(object)) + "\n";
    image.reserve(image.size() + object.size() * 4 / 3 + 4);
    for (size_t i = 0; i < object.size(); i += 3) {
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < object.size() ? static_cast<unsigned char>(object[i + k]) : 0u);
        for (size_t k = 0; k < 4; k++)
            image += i + k <= object.size() ? DIGITS[group >> (18 - 6 * k) & 63] : '=';
    }
    return image;
}

std::string bytes_of(const char *text) {
    int values[256];
    for (int &value : values)
        value = -1;
    for (int i = 0; i < 64; i++)
        values[static_cast<unsigned char>(DIGITS[i])] = i;
    std::string bytes;
    bytes.reserve(strlen(text) / 4 * 3);
    unsigned bits = 0;
    int count = 0;
    for (; *text != 0 && *text != '='; text++) {
        int value = values[static_cast<unsigned char>(*text)];
        if (value < 0)
            return "";
        bits = bits << 6 | unsigned(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += char(bits >> count & 255);
        }
    }
    return bytes;
}

// --- The host's compiler --------------------------------------------------------------------

// A temporary folder, deleted with its files.
class Folder {
  public:
    Folder() {
        path = temporary_folder() + "/futhark-emulated-XXXXXX";
        made = mkdtemp(&path[0]) != nullptr;
    }
    ~Folder() {
        for (const char *name : {"kernels.cpp", "kernels.ii", "kernels.so", "log"})
            unlink(file(name).c_str());
        rmdir(path.c_str());
    }
    std::string file(const char *name) const { return path + "/" + name; }

    std::string path;
    bool made;
};

const std::string &host_compiler() {
    static const std::string *name = [] {
        const char *text = getenv("FUTHARK_EMULATED_CXX");
        return new std::string(text == nullptr || *text == 0 ? "c++" : text);
    }();
    return *name;
}

// Runs the host's compiler, and redirects its stdout and stderr to the log.
bool run_compiler(const Folder &folder, std::vector<std::string> arguments, std::string &log) {
    arguments.insert(arguments.begin(), host_compiler());
    std::vector<char *> argv;
    for (std::string &argument : arguments)
        argv.push_back(&argument[0]);
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, folder.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        log = "the emulated device needs a C++ compiler: " + host_compiler() + ": " + strerror(error) +
              "; install one, or set FUTHARK_EMULATED_CXX to its path\n";
        return false;
    }
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    int why = errno;
    log = read_file(folder.file("log"));
    // The child's status is not available, for example in a program that ignores SIGCHLD.
    if (ended < 0) {
        log += "the emulated device cannot wait for its C++ compiler: " + std::string(strerror(why)) + "\n";
        return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The folder with the headers for kernels is next to this library.
std::string device_folder() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void *>(&device_folder), &info) == 0 || info.dli_fname == nullptr)
        return "device";
    std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1) + "device";
}

// --- Changes to the text of kernels ------------------------------------------------------------

// `extern volatile __shared__ unsigned char shared_mem[];` names memory whose address is known
// only when a block runs. Replaces the first `__shared__` declaration by a macro.
std::string with_shared_memory(const std::string &source) {
    size_t mark = source.find("__shared__");
    if (mark == std::string::npos)
        return source;
    size_t begin = source.rfind("extern", mark), open = source.find('[', mark), end = source.find(';', mark);
    if (begin == std::string::npos || open == std::string::npos || end == std::string::npos || open > end)
        return source;
    size_t first = mark + strlen("__shared__"), name_end = source.find_last_not_of(" \t", open - 1) + 1;
    size_t name = source.find_last_of(" \t", name_end - 1) + 1;
    std::string type = source.substr(first, name - first), id = source.substr(name, name_end - name);
    return source.substr(0, begin) + "\n#define " + id + " EMULATED_SHARED(" + type + ")\n" + source.substr(end + 1);
}

// The text after `(` or `{`, up to the parenthesis or brace that closes it.
std::string inside(const std::string &text, size_t from, char open = '(', char close = ')') {
    size_t depth = 1, i = from;
    for (; i < text.size() && depth > 0; i++)
        depth += text[i] == open ? 1 : text[i] == close ? size_t(-1) : 0;
    return text.substr(from, depth == 0 ? i - 1 - from : std::string::npos);
}

bool is_name(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_barrier(const std::string &name) { return name == "barrier" || name == "barrier_local" || name == "__syncthreads"; }

// The end of the body, if a definition's parameters end here, otherwise this position.
size_t end_of_body(const std::string &text, size_t at) {
    size_t brace = text.find_first_not_of(" \t\n", at);
    if (brace == std::string::npos || text[brace] != '{')
        return at;
    return std::min(brace + 1 + inside(text, brace + 1, '{', '}').size() + 1, text.size());
}

// Numbers the barriers, so that a thread can record which one it waits at. The numbers come from
// the text, because the compiler may copy code, so that one barrier has several addresses. Calls in the
// definition of a barrier have no number: the thread keeps that of the outer call.
std::string with_numbered_barriers(const std::string &text) {
    std::string result, before;
    result.reserve(text.size() + text.size() / 16);
    unsigned number = 0;
    for (size_t at = 0; at < text.size();) {
        if (!is_name(text[at])) {
            if (!isspace(static_cast<unsigned char>(text[at])))
                before.clear();
            result += text[at++];
            continue;
        }
        size_t end = at;
        while (end < text.size() && is_name(text[end]))
            end++;
        std::string name = text.substr(at, end - at);
        if (end < text.size() && text[end] == '(' && is_barrier(name)) {
            end = std::min(end + 1 + inside(text, end + 1).size() + 1, text.size());
            // A definition or a declaration follows the name of its type.
            bool is_call = before.empty() || before == "else" || before == "do" || before == "return";
            if (!is_call)
                end = end_of_body(text, end);
            std::string all = text.substr(at, end - at);
            result += is_call ? "(emulated_at(" + std::to_string(++number) + "), " + all + ")" : all;
            name.clear();
        } else {
            result += name;
        }
        before = name;
        at = end;
    }
    return result;
}

// A kernel in preprocessed text, which has the attribute that `__global__` of device/kernel.h expands to.
struct Definition {
    std::string name, bound;
    size_t end;  // of the name
};

// Finds the first kernel from a position on.
bool find_definition(const std::string &text, size_t at, Definition &found) {
    const std::string kernel = "__attribute__((emulated_kernel))", bound = "emulated_bound(";
    at = text.find(kernel, at);
    if (at == std::string::npos)
        return false;
    at += kernel.size();
    size_t returns = text.find("void", at), limit = text.find(bound, at);
    found.bound = std::to_string(MOST_THREADS);
    if (limit < returns) {
        found.bound = inside(text, limit + bound.size());
        returns = text.find("void", std::min(limit + bound.size() + found.bound.size(), text.size()));
    }
    size_t name = returns == std::string::npos ? returns : text.find_first_not_of(" \t\n", returns + strlen("void"));
    if (name == std::string::npos)
        return false;  // not a kernel; the compiler reports the error
    found.end = std::min(text.find_first_of(" \t\n(", name), text.size());
    found.name = text.substr(name, found.end - name);
    return true;
}

std::string table_of_kernels(const std::string &text) {
    std::string table = "\nextern \"C\" __attribute__((visibility(\"default\"))) const EmulatedKernel emulated_kernels[] = {\n";
    Definition d;
    for (size_t at = 0; find_definition(text, at, d); at = d.end) {
        std::string call = "EmulatedCall<decltype(&" + d.name + "), &" + d.name + ">::";
        table += "{\"" + d.name + "\", &" + call + "run, " + call + "sizes, " + call + "count, (unsigned)(" + d.bound + ")},\n";
    }
    return table + "{0, 0, 0, 0, 0}};\n";
}

// --- Kernels of every program --------------------------------------------------------------------

// The Futhark compiler puts the same kernels before those of each program: copies and transpositions. Of
// a small program, they are most of the work, so they are compiled once, as an object file in the cache.
bool is_common(const std::string &name) { return name.rfind("map_transpose_", 0) == 0 || name.rfind("lmad_copy_", 0) == 0; }

// Moves the text up to the last common kernel to `common`, and leaves declarations of the kernels. Returns
// false if the text does not begin with common kernels.
bool split_common(std::string &text, std::string &common) {
    std::string rest;
    size_t done = 0;
    Definition d;
    for (size_t at = 0; find_definition(text, at, d) && is_common(d.name); at = done) {
        size_t open = text.find('(', d.end);
        size_t parameters = open == std::string::npos ? text.size() : open + 1 + inside(text, open + 1).size() + 1;
        size_t end = parameters < text.size() ? end_of_body(text, parameters) : parameters;
        if (end <= parameters)
            return false;
        rest += text.substr(done, parameters - done) + ";\n";
        done = end;
    }
    common = text.substr(0, done);
    text = rest + text.substr(done);
    return done > 0;
}

bool compile_unit(const Folder &folder, const std::string &text, const std::vector<std::string> &flags, const std::vector<std::string> &rest,
                  const std::string &to, std::string &log) {
    if (!write_file(folder.file("kernels.ii"), text))
        return false;  // the log does not name the cause
    std::vector<std::string> arguments = flags;
    arguments.insert(arguments.end(), {"-o", to, "-x", "c++-cpp-output", folder.file("kernels.ii"), "-x", "none"});
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return run_compiler(folder, arguments, log);
}

// Returns the object file in the cache; empty if it cannot be made.
std::string common_object(const Folder &folder, const std::string &text, const std::vector<std::string> &flags) {
    std::string key = text + host_compiler(), log;
    for (const std::string &flag : flags)
        key += "\n" + flag;
    std::string kept = cache_folder() + "/" + hex(hash(key)) + hex(hash(key, 1)) + ".o";
    if (access(kept.c_str(), R_OK) == 0)
        return kept;
    std::string fresh = kept + "." + std::to_string(getpid());
    if (!compile_unit(folder, text, flags, {"-c"}, fresh, log) || rename(fresh.c_str(), kept.c_str()) != 0) {
        unlink(fresh.c_str());
        return "";
    }
    return kept;
}

// --- Compilation ---------------------------------------------------------------------------------

bool build_object(const Folder &folder, const std::string &text, const std::vector<std::string> &flags, std::string &log) {
    std::string common, rest = text, object = folder.file("kernels.so");
    if (!cache_folder().empty() && split_common(rest, common)) {
        std::string kept = common_object(folder, common, flags);
        if (!kept.empty() && compile_unit(folder, rest, flags, {kept, "-shared", "-lm"}, object, log))
            return true;
        unlink(folder.file("log").c_str());
    }
    return compile_unit(folder, text, flags, {"-shared", "-lm"}, object, log);
}

Compiled build(const std::string &source, const std::vector<std::string> &flags, const std::vector<std::string> &options) {
    Compiled result = {false, "", ""};
    Folder folder;
    if (!folder.made || !write_file(folder.file("kernels.cpp"), with_shared_memory(source))) {
        result.log = "the emulated device cannot write to " + folder.path + ": " + strerror(errno) + "\n";
        return result;
    }
    std::string device = device_folder();
    std::vector<std::string> arguments = {"-E", "-P", "-I" + device, "-include", device + "/kernel.h"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {folder.file("kernels.cpp"), "-o", folder.file("kernels.ii")});
    if (!run_compiler(folder, arguments, result.log))
        return result;
    std::string text = read_file(folder.file("kernels.ii"));
    if (!build_object(folder, with_numbered_barriers(text) + table_of_kernels(text), flags, result.log))
        return result;
    result.image = image_of(read_file(folder.file("kernels.so")));
    result.ok = true;
    return result;
}

std::vector<std::string> flags_of_kernels() {
    std::vector<std::string> flags = {
        "-std=gnu++14", "-w", "-fpermissive", "-fPIC", "-fvisibility=hidden", "-fno-exceptions",
        // Kernels use type punning, signed overflow and null-pointer tests.
        "-fno-strict-aliasing", "-fwrapv", "-fno-delete-null-pointer-checks",
        // The results must equal those of the host backends.
        "-ffp-contract=off",
        // Probe every page of a large frame, so that it cannot skip the guard page.
        "-fstack-clash-protection",
    };
#ifdef EMULATED_PORTABLE
    flags.push_back("-DEMULATED_PORTABLE");
#endif
    std::stringstream more(settings().flags);
    for (std::string flag; more >> flag;)
        flags.push_back(flag);
    return flags;
}

}  // namespace

Compiled compile(const std::string &source, const std::vector<std::string> &options) {
    std::vector<std::string> flags = flags_of_kernels();
    if (cache_folder().empty())
        return build(source, flags, options);
    std::string device = device_folder();
    // Not the compiler's version: each version has its own cache folder (src/emulated.rs of the crate).
    std::string key = source + host_compiler();
    for (const char *header : {"/kernel.h", "/thread.h", "/cuda_fp16.h", "/hip/hip_fp16.h"})
        key += read_file(device + header);
    for (const std::string &flag : flags)
        key += "\n" + flag;
    for (const std::string &option : options)
        key += "\n" + option;
    std::string kept = cache_folder() + "/" + hex(hash(key)) + hex(hash(key, 1)) + ".image";
    std::string image = read_file(kept);
    if (!object_in(image.c_str()).empty())
        return {true, image, ""};
    Compiled result = build(source, flags, options);
    // Rename atomically: other processes may read the file. On failure the next run recompiles.
    std::string fresh = kept + "." + std::to_string(getpid());
    if (result.ok && write_file(fresh, result.image))
        rename(fresh.c_str(), kept.c_str());
    return result;
}

std::string object_in(const char *image) {
    size_t mark = strlen(IMAGE), hash_size = 17;
    if (strncmp(image, IMAGE, mark) != 0 || strlen(image) < mark + hash_size)
        return "";
    std::string object = bytes_of(image + mark + hash_size);
    return hex(hash(object)) + "\n" == std::string(image + mark, hash_size) ? object : "";
}

}  // namespace emulated
