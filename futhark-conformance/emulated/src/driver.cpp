#include "driver.h"

#include <chrono>

namespace emulated {

double now_in_milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status record(Queue &queue, Event *event) {
    queue.add([place = event->milliseconds] {
        *place = now_in_milliseconds();
        return OK;
    });
    return OK;
}

}  // namespace emulated
