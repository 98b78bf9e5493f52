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
#include <set>
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

// A kernel that accesses an invalid address or exceeds the time limit gets a signal within a
// fiber. The handler jumps back to the worker, which resets the fiber and ends the launch. Other
// faults go to the previous handler.

struct sigaction earlier_segv, earlier_bus, earlier_fpe;

const struct sigaction &earlier(int signal) {
    return signal == SIGSEGV ? earlier_segv : signal == SIGBUS ? earlier_bus : earlier_fpe;
}

void on_signal(int signal, siginfo_t *info, void *context) {
    Worker *w = running;
    bool from_watch = info->si_code == SI_QUEUE && info->si_value.sival_ptr == &time_over;
    if (w != nullptr && w->current != nullptr) {
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

// The fiber's stack may have overflowed, so the handler needs another one: the worker's, while it
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

std::string place_of(const Worker &w, const Fiber *fiber) {
    char text[200];
    const ThreadState &s = *fiber->state;
    snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", w.launch->kernel.name, s.block.x, s.block.y,
             s.block.z, s.thread.x, s.thread.y, s.thread.z);
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
void tell_fault(Worker &w, const Fiber *faulted) {
    std::string place = place_of(w, faulted);
    if (w.signal == SIGALRM) {
        if (w.launch->fail(Ended::TimedOut))
            finding("%s: still running after %u s", place.c_str(), settings().seconds);
    } else if (w.signal == SIGFPE) {
        if (w.launch->fail(Ended::Failed))
            finding("%s: an arithmetic fault of the host", place.c_str());
    } else if (is_stack_guard(w.address, faulted)) {
        if (w.launch->fail(Ended::Failed))
            finding("%s: exceeds the %zu bytes of stack of a thread on the emulated device", place.c_str(), STACK);
    } else if (w.launch->fail(Ended::IllegalAddress)) {
        finding("%s: an access %s", place.c_str(), describe_fault(w).c_str());
    }
}

// --- Blocks -------------------------------------------------------------------------------

void wait_at_barrier(ThreadState *state) {
    Fiber *fiber = fiber_of(state);
    leave(static_cast<Worker *>(fiber->owner)->outside, fiber);
    state->site = 0;
}

void thread_main(Fiber *fiber) {
    auto w = static_cast<Worker *>(fiber->owner);
    for (;;) {
        w->launch->kernel.run(w->launch->arguments);
        fiber->done = true;
        leave(w->outside, fiber);
    }
}

// Runs one thread until it ends or reaches a barrier.
void go_on(Worker &w, Fiber *fiber, std::vector<Fiber *> &at_barrier) {
    w.current = fiber;
    enter(w.outside, fiber);
    w.current = nullptr;
    (fiber->done ? w.idle : at_barrier).push_back(fiber);
}

void begin_thread(Worker &w, Dim block, unsigned number) {
    Launch &l = *w.launch;
    if (w.idle.empty()) {
        Fiber *fiber = make_fiber(thread_main, &w);
        if (fiber == nullptr) {
            finding("kernel %s: no memory for the stack of one more thread", l.kernel.name);
            l.fail(Ended::Failed);
            return;
        }
        w.idle.push_back(fiber);
    }
    Fiber *fiber = w.idle.back();
    w.idle.pop_back();
    ThreadState &s = *fiber->state;
    s.thread = {number % l.block.x, number / l.block.x % l.block.y, number / l.block.x / l.block.y};
    s.block = block;
    s.block_size = l.block;
    s.grid_size = l.grid;
    s.shared = w.shared.of_size(l.shared);
    s.wait = wait_at_barrier;
    s.site = 0;
    fiber->done = false;
    go_on(w, fiber, w.waiting);
}

// Threads that have ended do not take part in barriers, as on hardware: a kernel returns early if
// the program failed. The others must wait at the same barrier; at different ones, hardware has
// undefined behaviour.
bool barrier_is_whole(Worker &w) {
    for (Fiber *fiber : w.waiting)
        if (fiber->state->site != w.waiting.front()->state->site) {
            if (w.launch->fail(Ended::Failed))
                finding("%s: waits at a different barrier than thread (%u,%u,%u)", place_of(w, fiber).c_str(),
                        w.waiting.front()->state->thread.x, w.waiting.front()->state->thread.y,
                        w.waiting.front()->state->thread.z);
            return false;
        }
    return true;
}

void run_block(Worker &w, Dim block) {
    unsigned threads = w.launch->threads();
    bool reversed = settings().order == Settings::Reversed;
    w.waiting.clear();
    memset(w.shared.of_size(w.launch->shared), settings().poison, w.launch->shared);
    for (unsigned i = 0; i < threads && !w.launch->failed(); i++)
        begin_thread(w, block, reversed ? threads - 1 - i : i);
    while (!w.waiting.empty() && !w.launch->failed() && barrier_is_whole(w)) {
        w.next.clear();
        if (settings().order == Settings::Alternating)
            std::reverse(w.waiting.begin(), w.waiting.end());
        for (size_t i = 0; i < w.waiting.size() && !w.launch->failed(); i++)
            go_on(w, w.waiting[i], w.next);
        if (!w.launch->failed())
            w.waiting.swap(w.next);
    }
}

// Resets the threads that a failure interrupted.
void clean_up(Worker &w, Fiber *faulted) {
    std::set<Fiber *> left(w.waiting.begin(), w.waiting.end());
    left.insert(w.next.begin(), w.next.end());
    if (faulted != nullptr)
        left.insert(faulted);
    for (Fiber *fiber : w.idle)
        left.erase(fiber);
    for (Fiber *fiber : left) {
        restart(fiber, thread_main);
        w.idle.push_back(fiber);
    }
    w.waiting.clear();
    w.next.clear();
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
    w.launch = &launch;
    Turn turn(w);
    Fiber *volatile faulted = nullptr;
    if (sigsetjmp(w.escape, 1) == 0) {
        while (!launch.failed()) {
            uint64_t number = launch.next++, blocks = launch.blocks();
            if (number >= blocks)
                break;
            run_block(w, launch.block_number(settings().blocks_reversed ? blocks - 1 - number : number));
        }
    } else {
        // Must come first: the watch sends further signals, and each would jump here again.
        faulted = w.current;
        w.current = nullptr;
        tell_fault(w, faulted);
    }
    if (launch.failed())
        clean_up(w, faulted);
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
        workers.push_back(new Worker());
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
