#include "settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace emulated {

namespace {

[[noreturn]] void refuse(const std::string &setting) {
    fprintf(stderr, "FUTHARK_EMULATED: `%s` is not a setting of the emulated device\n", setting.c_str());
    exit(2);
}

unsigned long number(const std::string &setting, const std::string &value, unsigned long least, unsigned long most) {
    char *end = nullptr;
    errno = 0;
    unsigned long n = strtoul(value.c_str(), &end, 0);
    if (value.empty() || !isdigit(static_cast<unsigned char>(value[0])) || *end != 0)
        refuse(setting);
    if (errno != 0 || n < least || n > most) {
        fprintf(stderr, "FUTHARK_EMULATED: `%s` is out of range: from %lu to %lu\n", setting.c_str(), least, most);
        exit(2);
    }
    return n;
}

void apply(Settings &s, const std::string &setting) {
    size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (setting == "delayed")
        s.delayed = true;
    else if (setting == "unguarded")
        s.guarded = false;
    else if (setting == "order=forward")
        s.order = Settings::Forward;
    else if (setting == "order=reversed")
        s.order = Settings::Reversed;
    else if (setting == "order=alternating")
        s.order = Settings::Alternating;
    else if (setting == "blocks=reversed")
        s.blocks_reversed = true;
    else if (setting == "trace")
        s.trace = true;
    else if (name == "threads")
        s.threads = unsigned(number(setting, value, 1, 64));
    else if (name == "poison")
        s.poison = static_cast<unsigned char>(number(setting, value, 0, 255));
    else if (name == "memory")
        s.memory = number(setting, value, 0, 1ul << 20) << 20;
    else if (name == "devices")
        s.devices = unsigned(number(setting, value, 0, 64));
    else if (name == "seconds")
        s.seconds = unsigned(number(setting, value, 1, 86400));
    else if (name == "fail-allocation")
        s.fail_allocation = number(setting, value, 0, ULONG_MAX);
    else if (name == "fail-copy")
        s.fail_copy = number(setting, value, 0, ULONG_MAX);
    else if (name == "fail-launch")
        s.fail_launch = number(setting, value, 0, ULONG_MAX);
    else if (name == "fail-event")
        s.fail_event = number(setting, value, 0, ULONG_MAX);
    else if (name == "fail-set-device")
        s.fail_set_device = number(setting, value, 0, ULONG_MAX);
    else if (name == "lose-device")
        s.lose_device = number(setting, value, 0, ULONG_MAX);
    else if (name == "flags")
        s.flags = value;
    else
        refuse(setting);
}

Settings read() {
    Settings s;
    const char *text = getenv("FUTHARK_EMULATED");
    std::stringstream list(text == nullptr ? "" : text);
    for (std::string setting; std::getline(list, setting, ',');)
        if (!setting.empty())
            apply(s, setting);
    return s;
}

}  // namespace

const Settings &settings() {
    static const Settings *s = new Settings(read());
    return *s;
}

const std::string &cache_folder() {
    static const std::string *folder = [] {
        const char *text = getenv("FUTHARK_EMULATED_CACHE");
        return new std::string(text == nullptr ? "" : text);
    }();
    return *folder;
}

std::string temporary_folder() {
    const char *named = getenv("TMPDIR");
    return named == nullptr || *named == 0 ? "/tmp" : named;
}

void finding(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t size = std::min(size_t(length), sizeof line - 2);
    line[size++] = '\n';
    line[size] = 0;
    const char *file = getenv("FUTHARK_EMULATED_FINDINGS");
    int fd = file == nullptr || *file == 0 ? -1 : open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "emulated device: %s", line);
        return;
    }
    // One write, so that lines of several processes are not interleaved.
    if (write(fd, line, size) != ssize_t(size))
        fprintf(stderr, "emulated device: %s", line);
    close(fd);
}

bool device_is_lost() {
    static unsigned long calls;
    static bool lost;
    lost = lost || shall_fail("call", calls, settings().lose_device);
    return lost;
}

bool shall_fail(const char *what, unsigned long &counter, unsigned long which) {
    if (which == 0 || __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED) != which)
        return false;
    fprintf(stderr, "emulated device: %s number %lu fails, as requested\n", what, which);
    return true;
}

}  // namespace emulated
