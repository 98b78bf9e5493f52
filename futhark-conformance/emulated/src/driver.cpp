#include "driver.h"

#include <chrono>

namespace emulated {

double now_in_milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static unsigned long events;  // created so far; protected by the driver's mutex

Status create(Event **event) {
    if (shall_fail("event", events, settings().fail_event))
        return OUT_OF_MEMORY;
    *event = new Event();
    return OK;
}

Status record(Queue &queue, Event *event) {
    queue.add([place = event->milliseconds] {
        *place = now_in_milliseconds();
        return OK;
    });
    return OK;
}

}  // namespace emulated
