#ifndef CUV_STACKS_H
#define CUV_STACKS_H

#include <stdint.h>
#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// The activity of a loop's thread, in words that this thread alone writes, by atomic stores.
struct cuv_activity {
    const uint64_t *_Nonnull word;
    // The address of the object whose handler runs, or 0. Stored before the word.
    const uintptr_t *_Nonnull item;
};

enum { cuv_stack_limit = 128 };

// The stack of another thread, captured by that thread in a signal handler.
struct cuv_stack {
    int count;
    // The program counter, then the return addresses.
    uintptr_t frames[cuv_stack_limit];
    // The object whose handler runs, retained, or NULL.
    void *_Nullable item;
};

// Installs the handler for a real-time signal that has none. Returns 0, also if it is installed
// already, or a negated errno.
int cuv_stacks_prepare(void);

// Unblocks the signal for the calling thread, if it is prepared. Threads that Dispatch's start inherit
// a mask that blocks nearly all signals.
void cuv_stacks_accept(void);

// Captures the stack of a thread, if it is still doing what its activity said. Blocking system calls
// of the thread that cannot be restarted return EINTR. One thread at a time may call it.
//
// Returns 0; -ESTALE if the thread is doing something else by now; -ETIMEDOUT if it does not handle
// signals in time; or another negated errno.
int cuv_stack_capture(
    pid_t thread, uint64_t identity, struct cuv_activity activity, uint64_t expected,
    struct cuv_stack *_Nonnull stack);

CUV_END

#endif
