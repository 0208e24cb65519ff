// Owns the library's thread-local state, and queries the system about threads.

#include "cuv_threads.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local struct cuv_thread current_thread;

struct cuv_thread *_Nonnull cuv_current_thread(void) { return &current_thread; }

pid_t cuv_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

void cuv_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int cuv_is_main_thread(void) { return cuv_thread_id() == getpid(); }

// A function of the C library that no header declares.
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

int cuv_at_thread_end(void (*_Nonnull function)(void *_Nullable), void *_Nullable argument) {
    // The last argument may be any address in the library or program that contains the function.
    return __cxa_thread_atexit_impl(function, argument, (void *)function);
}

int cuv_is_thread_gone(pid_t thread) {
    return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}
