// Owns the library's thread-local state, and queries the system about threads.

#define _GNU_SOURCE

#include "cuv_threads.h"

#include "forks.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local struct cuv_thread cuv_thread_state;

// In every forked child: ends the runs of the parent's loop at once. A handler that forks may return
// there. The next check for a stop then finds one, and checks the process.
static void end_runs_of_parent(void) {
    uint64_t *end = cuv_thread_state.loop_end;
    if (end) __atomic_store_n(end, INT64_MAX, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void watch_forks(void) { cuv_at_fork(end_runs_of_parent); }

pid_t cuv_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

void cuv_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if __GLIBC_PREREQ(2, 31) && !__has_feature(thread_sanitizer)

int cuv_join_thread(pthread_t thread, int64_t nanoseconds) {
    struct timespec time = {
        .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &time);
}

#else

// The older call, which is all that the thread sanitizer knows, has a date of CLOCK_REALTIME. That
// clock may be set, so the wait is cut into short ones.
int cuv_join_thread(pthread_t thread, int64_t nanoseconds) {
    for (;;) {
        struct timespec now, time;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t rest = nanoseconds - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
        int64_t slice = rest < 0 ? 0 : rest > 100000000 ? 100000000 : rest;
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_sec += (time.tv_nsec + slice) / 1000000000;
        time.tv_nsec = (time.tv_nsec + slice) % 1000000000;
        int status = pthread_timedjoin_np(thread, NULL, &time);
        if (status != ETIMEDOUT || rest <= 0) return status;
    }
}

#endif

// A function of the C library that no header declares.
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

int cuv_at_thread_end(void (*_Nonnull function)(void *_Nullable), void *_Nullable argument) {
    // The last argument may be any address in the library or program that contains the function.
    return __cxa_thread_atexit_impl(function, argument, (void *)function);
}

int cuv_is_thread_gone(pid_t thread) {
    return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

int cuv_is_only_thread(void) {
    struct stat tasks;
    // Besides the folders of the threads it has two links of its own.
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}
