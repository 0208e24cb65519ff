#ifndef FORKS_H
#define FORKS_H

#include "include/cuv_linkage.h"

CUV_BEGIN

// Not for Swift: the child of a process with threads may run nothing of the Swift runtime before it
// executes a program. A lock of the runtime, which another thread held, would stay locked; so would
// the first use of a global variable or of a generic type.

/// Has every forked child call a function before the fork handlers of the program, which find
/// nothing in the child that is still the parent's; there may be eight.
void cuv_at_fork(void (*_Nonnull action)(void));

/// Has every forked child call a function after the fork handlers registered so far; ends the
/// process if there is no memory for that.
void cuv_at_fork_last(void (*_Nonnull action)(void));

CUV_END

#endif
