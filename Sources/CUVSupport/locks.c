// The primitives of locks and conditions: pthread attributes that Swift does not import, futexes
// and a short sleep. The latter two preserve errno, because a lock may be acquired between a system
// call and the check of its error.

#include "cuv_locks.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void cuv_mutex_init(pthread_mutex_t *_Nonnull mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, 3);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void cuv_condition_init(pthread_cond_t *_Nonnull condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

int cuv_condition_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, int64_t nanoseconds) {
    struct timespec moment = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return -pthread_cond_timedwait(condition, mutex, &moment);
}

int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int saved = errno;
    long status = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
    int is_timed_out = status != 0 && errno == ETIMEDOUT;
    errno = saved;
    return is_timed_out;
}

void cuv_futex_wake(const void *_Nonnull word) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

void cuv_nap(void) {
    struct timespec time = {.tv_nsec = 20000};
    int saved = errno;
    nanosleep(&time, NULL);
    errno = saved;
}
