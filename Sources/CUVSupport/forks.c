#include "forks.h"

#include "cuv_forks.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t cuv_forks = 0;

static _Noreturn void fail(const char *_Nonnull text, size_t length) {
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written;
    abort();
}

void cuv_at_fork_last(void (*_Nonnull action)(void)) {
    static const char text[] = "UVRunLoop could not register a fork handler: out of memory.\n";
    if (pthread_atfork(NULL, NULL, action) != 0) fail(text, sizeof text - 1);
}

// Each file that needs one adds one; a number is taken before its action is stored.
enum { most_actions = 8 };
static void (*_Nullable actions[most_actions])(void);
static int action_count = 0;

void cuv_at_fork(void (*_Nonnull action)(void)) {
    static const char text[] = "UVRunLoop has too many fork actions.\n";
    int number = __atomic_fetch_add(&action_count, 1, __ATOMIC_RELAXED);
    if (number >= most_actions) fail(text, sizeof text - 1);
    __atomic_store_n(&actions[number], action, __ATOMIC_RELEASE);
}

static void process_was_forked(void) {
    __atomic_add_fetch(&cuv_forks, 1, __ATOMIC_RELAXED);
    for (int number = 0; number < most_actions; number++) {
        void (*action)(void) = __atomic_load_n(&actions[number], __ATOMIC_ACQUIRE);
        if (action) action();
    }
}

// Before main, and before the constructors of the program: fork handlers are called in the order in
// which they were registered, and those of the program may use the library in the child.
__attribute__((constructor(101))) static void watch_forks(void) {
    cuv_at_fork_last(process_was_forked);
}
