#include "grid.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "division.h"
#include "memory.h"
#include "settings.h"
#include "worker.h"

namespace emulated {

namespace {

// The signal handler reads it and must not allocate. This TLS model takes all thread-locals of the
// library from the small space that the loader reserves: with more than a few words, the library
// could not be loaded.
thread_local Worker *running __attribute__((tls_model("initial-exec")));
char time_over;  // its address identifies the signals of the watch

// --- Faults ------------------------------------------------------------------------------

// A kernel that accesses an invalid address or exceeds the time limit gets a signal while one of its
// threads runs. The handler jumps back to the worker, which resets the threads and ends the launch.
// Other faults go to the previous handler.

struct sigaction earlier_segv, earlier_bus, earlier_fpe;

const struct sigaction &earlier(int signal) {
    return signal == SIGSEGV ? earlier_segv : signal == SIGBUS ? earlier_bus : earlier_fpe;
}

void on_signal(int signal, siginfo_t *info, void *context) {
    Worker *w = running;
    bool from_watch = info->si_code == SI_QUEUE && info->si_value.sival_ptr == &time_over;
    if (w != nullptr && w->inside) {
        if (signal == SIGFPE && finish_division(context))
            return;
        w->signal = from_watch ? SIGALRM : signal;
        w->address = from_watch ? nullptr : info->si_addr;
        w->wild = signal == SIGSEGV && info->si_code == SI_KERNEL;
        siglongjmp(w->escape, 1);
    }
    if (from_watch)
        return;
    const struct sigaction &before = earlier(signal);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(signal);
    else
        ::signal(signal, SIG_DFL);  // the same instruction then faults again
}

void install_handlers() {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &earlier_segv);
    sigaction(SIGBUS, &action, &earlier_bus);
    sigaction(SIGFPE, &action, &earlier_fpe);
}

// The thread's stack may have overflowed, so the handler needs another one: the worker's, while it
// runs blocks, unless the thread has one.
class SignalStack {
  public:
    explicit SignalStack(Worker &w) {
        stack_t there, mine = {};
        if (sigaltstack(nullptr, &there) != 0 || !(there.ss_flags & SS_DISABLE))
            return;
        mine.ss_sp = w.signal_stack;
        mine.ss_size = sizeof w.signal_stack;
        given = sigaltstack(&mine, nullptr) == 0;
    }
    ~SignalStack() {
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        if (given)
            sigaltstack(&none, nullptr);
    }

  private:
    bool given = false;
};

// Ends kernels that exceed the time limit: sends a signal to the workers of the launch repeatedly,
// because a worker may be between two threads of a block.
class Watch {
  public:
    void join(Worker *w) {
        std::lock_guard<std::mutex> lock(mutex);
        if (working.empty())
            begun = std::chrono::steady_clock::now();
        working.push_back(w);
        if (!started)
            start();
        started = true;
    }

    // After this, the watch sends no signal to the worker.
    void leave(Worker *w) {
        std::lock_guard<std::mutex> lock(mutex);
        working.erase(std::find(working.begin(), working.end(), w));
    }

  private:
    void start() {
        try {
            std::thread([this] { watch(); }).detach();
        } catch (const std::system_error &error) {
            fprintf(stderr, "emulated device: the time limit of kernels has no effect: cannot start a thread: %s\n", error.what());
        }
    }

    [[noreturn]] void watch() {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            std::lock_guard<std::mutex> lock(mutex);
            if (working.empty() || std::chrono::steady_clock::now() - begun < std::chrono::seconds(settings().seconds))
                continue;
            for (Worker *w : working) {
                sigval mark;
                mark.sival_ptr = &time_over;
                pthread_sigqueue(w->host, SIGSEGV, mark);
            }
        }
    }

    std::mutex mutex;
    std::vector<Worker *> working;
    std::chrono::steady_clock::time_point begun;
    bool started = false;
};

Watch &watch() {
    static Watch *one = new Watch();  // never destroyed: its thread keeps running
    return *one;
}

std::string place_of(const Worker &w, const Thread &t) {
    char text[200];
    const Dim &b = w.stacks.block->index;
    snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", w.launch->kernel.name, b.x, b.y, b.z, t.index.x,
             t.index.y, t.index.z);
    return text;
}

std::string describe_fault(const Worker &w) {
    if (w.wild)
        return "at an address that is not canonical or not aligned";
    if (w.shared.guards(w.address))
        return "outside of the " + std::to_string(w.launch->shared) + " bytes of shared memory";
    return describe_address(w.address);
}

// Runs after the jump, on the worker's own stack.
void tell_fault(Worker &w) {
    const Thread &faulted = **w.stacks.block->now;
    std::string place = place_of(w, faulted);
    if (w.signal == SIGALRM) {
        if (w.launch->fail(Ended::TimedOut))
            finding("%s: still running after %u s", place.c_str(), settings().seconds);
    } else if (w.signal == SIGFPE) {
        if (w.launch->fail(Ended::Failed))
            finding("%s: an arithmetic fault of the host", place.c_str());
    } else if (w.stacks.is_guard(w.address, &faulted)) {
        if (w.launch->fail(Ended::Failed))
            finding("%s: exceeds the %zu bytes of stack of a thread on the emulated device", place.c_str(), STACK);
    } else if (w.launch->fail(Ended::IllegalAddress)) {
        finding("%s: an access %s", place.c_str(), describe_fault(w).c_str());
    }
}

// --- Blocks -------------------------------------------------------------------------------

constexpr unsigned ENDED = ~0u;  // in place of the site of a barrier

// The index after or before `i` in a block. Kernels may start many threads that do little, so this must
// not divide.
void advance(Dim &i, const Dim &size, bool backwards) {
    if (!backwards && ++i.x == size.x) {
        i.x = 0;
        if (++i.y == size.y) {
            i.y = 0;
            i.z++;
        }
    } else if (backwards && i.x-- == 0) {
        i.x = size.x - 1;
        if (i.y-- == 0) {
            i.y = size.y - 1;
            i.z--;
        }
    }
}

// Gives the next thread of the block to a stack, if there is one.
bool begin_thread(Worker &w, Thread &t) {
    if (w.to_start == 0 || w.launch->failed())
        return false;
    w.to_start--;
    t.index = w.next;
    t.site = 0;
    advance(w.next, w.launch->block, w.reversed);
    return true;
}

// Runs on each stack: one thread after the other, until one has waited at a barrier and ended.
void thread_main(Thread *t) {
    Block *block = emulated_block_of(reinterpret_cast<uintptr_t>(t));
    for (;;) {
        auto w = static_cast<Worker *>(block->worker);
        while (begin_thread(*w, *t))
            w->launch->kernel.run(w->launch->arguments);
        t->site = ENDED;
        w->ended++;
        // The rest of the list are stacks without a thread if this is the last thread to start.
        emulated_switch(t, w->starting ? &block->threads[0] : *++block->now);
    }
}

// Runs the threads of the list, each until it waits or ends. The list ends with threads[0].
__attribute__((noinline)) void go_on(Worker &w, Thread **list) {
    w.stacks.block->now = list;
    w.inside = true;
    emulated_switch(&w.stacks.block->threads[0], *list);
    w.inside = false;
}

// Starts the threads of a block. Those that end without a barrier share a stack; one that waits switches
// to the next stack, which starts the next thread.
void begin_threads(Worker &w) {
    Thread *threads = w.stacks.block->threads;
    w.starting = true;
    while (w.to_start > 0 && !w.launch->failed()) {
        unsigned used = unsigned(w.waiting.size());
        if (!w.stacks.need(used + 1)) {
            finding("kernel %s: no memory for the stack of one more thread", w.launch->kernel.name);
            w.launch->fail(Ended::Failed);
            break;
        }
        w.idle.clear();
        for (unsigned i = used; i < std::min(w.stacks.count(), used + w.to_start); i++)
            w.idle.push_back(&threads[i + 1]);
        w.idle.push_back(&threads[0]);
        go_on(w, w.idle.data());
        for (Thread **t = w.idle.data(); t <= w.stacks.block->now && *t != &threads[0] && (*t)->site != ENDED; t++)
            w.waiting.push_back(*t);
    }
    w.starting = false;
}

// Threads that have ended do not take part in barriers, as on hardware: a kernel returns early if
// the program failed. The others must wait at the same barrier; at different ones, hardware has
// undefined behaviour.
bool barrier_is_whole(Worker &w) {
    if (w.stacks.block->any_site == w.stacks.block->common_site)
        return true;
    const Thread &first = *w.waiting.front();
    auto other = std::find_if(w.waiting.begin(), w.waiting.end(), [&](const Thread *t) { return t->site != first.site; });
    if (w.launch->fail(Ended::Failed))
        finding("%s: waits at a different barrier than thread (%u,%u,%u)", place_of(w, **other).c_str(), first.index.x, first.index.y,
                first.index.z);
    return false;
}

void expect_barrier(Worker &w) {
    w.stacks.block->any_site = 0;
    w.stacks.block->common_site = ~0u;
    w.ended = 0;
}

// From one barrier to the next.
void continue_threads(Worker &w) {
    if (settings().order == Settings::Alternating)
        std::reverse(w.waiting.begin(), w.waiting.end());
    w.waiting.push_back(&w.stacks.block->threads[0]);
    expect_barrier(w);
    go_on(w, w.waiting.data());
    w.waiting.pop_back();
    auto has_ended = [](const Thread *t) { return t->site == ENDED; };
    if (w.ended > 0)
        w.waiting.erase(std::remove_if(w.waiting.begin(), w.waiting.end(), has_ended), w.waiting.end());
}

void run_block(Worker &w, Dim index) {
    Block &b = *w.stacks.block;
    b.index = index;
    memset(b.shared, settings().poison, w.launch->shared);
    w.waiting.clear();
    const Dim &size = w.launch->block;
    w.to_start = w.launch->threads();
    w.reversed = settings().order == Settings::Reversed;
    w.next = w.reversed ? Dim{size.x - 1, size.y - 1, size.z - 1} : Dim{0, 0, 0};
    expect_barrier(w);
    begin_threads(w);
    while (!w.waiting.empty() && !w.launch->failed() && barrier_is_whole(w))
        continue_threads(w);
}

// What the blocks of a launch have in common.
bool begin_launch(Worker &w, Launch &launch) {
    w.launch = &launch;
    if (!w.stacks.need(1)) {
        finding("kernel %s: no memory for the stack of a thread", launch.kernel.name);
        launch.fail(Ended::Failed);
        return false;
    }
    Block &b = *w.stacks.block;
    b.worker = &w;
    b.size = launch.block;
    b.grid_size = launch.grid;
    b.shared = w.shared.of_size(launch.shared);
    return true;
}

// Lets the worker handle the signals of its thread during the lifetime of this object.
class Turn {
  public:
    explicit Turn(Worker &w) : worker(w), stack(w) {
        w.host = pthread_self();
        watch().join(&w);
        running = &w;
    }
    ~Turn() {
        watch().leave(&worker);
        running = nullptr;
    }

  private:
    Worker &worker;
    SignalStack stack;
};

// Blocks start in order, for any number of host threads, so that a scan with decoupled look-back
// never waits for a block that has not started.
void run_blocks(Worker &w, Launch &launch) {
    if (!begin_launch(w, launch))
        return;
    Turn turn(w);
    if (sigsetjmp(w.escape, 1) == 0) {
        while (!launch.failed()) {
            uint64_t number = launch.next++, blocks = launch.blocks();
            if (number >= blocks)
                break;
            run_block(w, launch.block_number(settings().blocks_reversed ? blocks - 1 - number : number));
        }
    } else {
        // Must come first: the watch sends further signals, and each would jump here again.
        w.inside = false;
        tell_fault(w);
    }
    // A failure leaves threads in the middle of the kernel.
    if (launch.failed())
        w.stacks.restart();
}

// No exception may leave a thread's function.
void run_blocks_or_fail(Worker &w, Launch &launch) noexcept {
    try {
        run_blocks(w, launch);
    } catch (const std::exception &error) {
        fprintf(stderr, "emulated device: kernel %s: %s\n", launch.kernel.name, error.what());
        launch.fail(Ended::Failed);
    }
}

}  // namespace

Ended run_grid(const Kernel &kernel, void *const *arguments, Dim grid, Dim block, size_t shared) {
    // One grid at a time: there is one device.
    static std::mutex mutex;
    static std::vector<Worker *> workers;
    static bool installed;
    std::lock_guard<std::mutex> lock(mutex);
    if (!installed)
        install_handlers();
    installed = true;

    Launch launch{kernel, arguments, grid, block, shared};
    size_t wanted = size_t(std::min<uint64_t>(settings().threads, launch.blocks()));
    while (workers.size() < wanted)
        workers.push_back(new Worker(thread_main));
    std::vector<Worker *> used(workers.begin(), workers.begin() + long(wanted));
    std::vector<std::thread> helpers;
    helpers.reserve(wanted);
    try {
        for (size_t i = 1; i < wanted; i++)
            helpers.emplace_back([&, i] { run_blocks_or_fail(*used[i], launch); });
    } catch (const std::system_error &) {
        // If no more threads can be started, the existing ones do all of the work.
    }
    run_blocks_or_fail(*used[0], launch);
    for (std::thread &helper : helpers)
        helper.join();
    return Ended(launch.ended.load());
}

}  // namespace emulated
