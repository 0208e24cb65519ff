#ifndef CUV_EVENTS_H
#define CUV_EVENTS_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuv_linkage.h"

CUV_BEGIN

int cuv_event_create(void);

// Makes an eventfd readable. Async-signal-safe.
static inline int cuv_event_signal(int descriptor) {
    uint64_t one = 1;
    int saved = errno;
    long length;
    // Not write(2), which is a cancellation point.
    do { length = syscall(SYS_write, descriptor, &one, sizeof one); } while (length < 0 && errno == EINTR);
    // An eventfd that is full is readable.
    int status = length >= 0 || errno == EAGAIN ? 0 : -errno;
    errno = saved;
    return status;
}

CUV_END

#endif
