// Facts about the process and the calling thread, from the system.

#define _DEFAULT_SOURCE

#include "cuv_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *_Nullable cuv_environment(const char *_Nonnull name) { return getenv(name); }

int cuv_at_exit(void (*_Nonnull function)(void)) { return atexit(function); }

static pid_t pool_process = 0;
static _Thread_local int is_in_pool_work = 0;

void cuv_set_pool_process(pid_t process) {
    __atomic_store_n(&pool_process, process, __ATOMIC_RELAXED);
}

void cuv_set_in_pool_work(int is_in_work) { is_in_pool_work = is_in_work; }

#ifdef __GLIBC__
// Whether the calling thread can join the pool's threads: it is none of them, and its process has
// them, which a forked child has not.
static int can_join_pool(void) {
    pid_t owner = __atomic_load_n(&pool_process, __ATOMIC_RELAXED);
    return owner == 0 || (owner == getpid() && !is_in_pool_work);
}

// At the end of exit(), a destructor of libuv joins the pool's threads, and would crash or abort if
// it cannot. Then exit() ends here, with its status.
static void end_without_pool(int status, void *unused) {
    (void)unused;
    if (can_join_pool()) return;
    fflush(NULL);
    _exit(status);
}

// Before the program registers a handler of its own: the last to be registered is called first.
__attribute__((constructor)) static void watch_exits(void) { on_exit(end_without_pool, NULL); }
#endif

void cuv_thread_name(char *_Nonnull name) {
    name[0] = 0;
    prctl(PR_GET_NAME, name, 0, 0, 0);
}
