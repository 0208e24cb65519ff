#ifndef CUV_TASKS_H
#define CUV_TASKS_H

#include "cuv_linkage.h"

CUV_BEGIN

// Has an asynchronous main function, when it first suspends, call a function that never returns on
// the main thread, instead of waiting in libdispatch. Returns 0, or -ENOSYS if the concurrency
// runtime does not offer that.
int cuv_set_async_main(void (*_Nonnull function)(void));

CUV_END

#endif
