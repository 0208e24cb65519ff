// Facts about the process and the calling thread, from the system.

#define _DEFAULT_SOURCE

#include "cuv_process.h"

#include "forks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

const char *_Nullable cuv_environment(const char *_Nonnull name) { return getenv(name); }

const char *_Nonnull cuv_error_text(int error) { return strerror(error); }

int cuv_at_exit(void (*_Nonnull function)(void)) { return atexit(function); }

// At the end of exit(), a destructor of libuv takes away what its loops share: its thread pool, and
// the pipe that guards its signals. Another thread may still need these, and libuv would abort the
// process. So that thread makes its calls between begin and end, and the destructor below, which
// comes before that of libuv on which this depends, waits for those in progress and refuses others.

static int shared_calls = 0;
static int shared_calls_are_over = 0;

static void forget_shared_calls(void) { __atomic_store_n(&shared_calls, 0, __ATOMIC_SEQ_CST); }

__attribute__((constructor)) static void watch_forks(void) { cuv_at_fork(forget_shared_calls); }

int cuv_begin_shared_call(void) {
    __atomic_add_fetch(&shared_calls, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&shared_calls_are_over, __ATOMIC_SEQ_CST)) return 1;
    cuv_end_shared_call();
    return 0;
}

void cuv_end_shared_call(void) { __atomic_sub_fetch(&shared_calls, 1, __ATOMIC_SEQ_CST); }

static void end_shared_calls(void) {
    __atomic_store_n(&shared_calls_are_over, 1, __ATOMIC_SEQ_CST);
    // Ten seconds, and not for ever: a handler of a signal may have called exit() during a call.
    const struct timespec pause = {.tv_nsec = 100000};
    for (int count = 0; count < 100000; count++) {
        if (__atomic_load_n(&shared_calls, __ATOMIC_SEQ_CST) == 0) return;
        nanosleep(&pause, NULL);
    }
}

// libuv's destructor also joins the threads of the pool. In work of the pool, and in a forked child
// of a process with a pool, it would abort or crash. Then the process is ended before, with its
// status, which only glibc tells.

static pid_t pool_process = 0;
static _Thread_local int is_in_pool_work = 0;

void cuv_set_in_pool_work(int is_in_work) { is_in_pool_work = is_in_work; }

#ifdef __GLIBC__
static int exit_status = 0;

static void keep_exit_status(int status, void *unused) {
    (void)unused;
    exit_status = status;
}

static pthread_once_t exits_are_watched = PTHREAD_ONCE_INIT;

static void watch_exits(void) { on_exit(keep_exit_status, NULL); }

void cuv_set_pool_process(pid_t process) {
    pthread_once(&exits_are_watched, watch_exits);
    __atomic_store_n(&pool_process, process, __ATOMIC_RELAXED);
}

// Writes a stream, unless a thread holds it, which may wait for input for ever.
static void write_stream(FILE *stream) {
    if (ftrylockfile(stream) != 0) return;
    fflush_unlocked(stream);
    funlockfile(stream);
}

static void end_before_libuv(void) {
    pid_t owner = __atomic_load_n(&pool_process, __ATOMIC_RELAXED);
    if (owner == 0 || (owner == getpid() && !is_in_pool_work)) return;
    write_stream(stdout);
    write_stream(stderr);
    _exit(exit_status);
}
#else
void cuv_set_pool_process(pid_t process) { pool_process = process; }

static void end_before_libuv(void) {}
#endif

__attribute__((destructor)) static void libuv_is_ending(void) {
    end_before_libuv();
    end_shared_calls();
}

void cuv_thread_name(char *_Nonnull name) {
    name[0] = 0;
    prctl(PR_GET_NAME, name, 0, 0, 0);
}
