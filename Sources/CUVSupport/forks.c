#include "cuv_forks.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t cuv_forks = 0;

static void count_fork(void) { __atomic_add_fetch(&cuv_forks, 1, __ATOMIC_RELAXED); }

void cuv_at_fork(void (*action)(void)) {
    if (pthread_atfork(NULL, NULL, action) == 0) return;
    static const char text[] = "UVRunLoop could not register a fork handler: out of memory.\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    abort();
}

void cuv_watch_forks(void) { cuv_at_fork(count_fork); }
