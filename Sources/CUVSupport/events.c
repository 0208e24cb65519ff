// Eventfds, which wake the threads that wait for them.

#include "cuv_events.h"

#include <sys/eventfd.h>

int cuv_event_create(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}
