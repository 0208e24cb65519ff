#ifndef CUV_FORKS_H
#define CUV_FORKS_H

#include <stdint.h>

// In C, because the child of a process with threads may run nothing of the Swift runtime before it
// executes a program: a lock of the runtime, which another thread held, would stay locked.

/// Has every forked child call a function before the fork handlers of the program, which find
/// nothing in the child that is still the parent's; there may be eight.
void cuv_at_fork(void (*_Nonnull action)(void));

/// Has every forked child call a function after the fork handlers registered so far; ends the
/// process if there is no memory for that.
void cuv_at_fork_last(void (*_Nonnull action)(void));

/// The number of forks between this process and the one that loaded the library.
static inline uint64_t cuv_fork_count(void) {
    extern uint64_t cuv_forks;
    return __atomic_load_n(&cuv_forks, __ATOMIC_RELAXED);
}

#endif
