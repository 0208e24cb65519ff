#include "cuv_forks.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t cuv_forks = 0;

static void count_fork(void) { __atomic_add_fetch(&cuv_forks, 1, __ATOMIC_RELAXED); }

void cuv_at_fork(void (*_Nonnull action)(void)) {
    if (pthread_atfork(NULL, NULL, action) == 0) return;
    static const char text[] = "UVRunLoop could not register a fork handler: out of memory.\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    abort();
}

// Before main: handlers are called in the order in which they were registered, and those of the
// program find the child in no loop of the parent's.
__attribute__((constructor)) static void watch_forks(void) { cuv_at_fork(count_fork); }
