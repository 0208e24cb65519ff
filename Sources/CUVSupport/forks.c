#include "cuv_forks.h"

#include <pthread.h>

uint64_t cuv_forks = 0;

static void count_fork(void) { __atomic_add_fetch(&cuv_forks, 1, __ATOMIC_RELAXED); }

int cuv_watch_forks(void) { return pthread_atfork(NULL, NULL, count_fork); }
