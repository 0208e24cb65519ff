// Timerfds, and the coarse reading of CLOCK_MONOTONIC.

#include "cuv_clocks.h"

#include <errno.h>

int cuv_timer_create(clockid_t clock) {
    int descriptor = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

int64_t cuv_coarse_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t cuv_coarse_resolution(void) {
    struct timespec time;
    clock_getres(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
