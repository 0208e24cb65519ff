#ifndef CUV_CLOCKS_H
#define CUV_CLOCKS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Creates a timerfd.
int cuv_timer_create(clockid_t clock);

// Arms a timerfd for an absolute time of CLOCK_MONOTONIC in nanoseconds; 0 disarms it.
static inline int cuv_timer_set(int descriptor, int64_t nanoseconds) {
    struct itimerspec moment = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &moment, NULL) == 0 ? 0 : -errno;
}

// CLOCK_MONOTONIC as of the latest tick of the system's timer, in nanoseconds; costs a quarter of
// the exact time.
int64_t cuv_coarse_time(void);

// Returns how far that time may be behind, in nanoseconds.
int64_t cuv_coarse_resolution(void);

CUV_END

#endif
