// The primitives of locks and conditions: futexes and a short sleep. They preserve errno, because a
// lock may be acquired between a system call and the check of its error.

#include "cuv_locks.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int saved = errno;
    long status = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
    int is_timed_out = status != 0 && errno == ETIMEDOUT;
    errno = saved;
    return is_timed_out;
}

void cuv_futex_wake(const void *_Nonnull word, int count) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

void cuv_nap(void) {
    struct timespec time = {.tv_nsec = 20000};
    int saved = errno;
    nanosleep(&time, NULL);
    errno = saved;
}
