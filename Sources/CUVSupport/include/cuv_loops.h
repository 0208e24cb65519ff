#ifndef CUV_LOOPS_H
#define CUV_LOOPS_H

// By path, so that Swift finds libuv's types only in the module CUV.
#include "../../CUV/cuv.h"
#include "cuv_linkage.h"

CUV_BEGIN

// Initialises a loop. On failure no descriptor stays open, as it does with libuv up to 1.50.
int cuv_loop_init(uv_loop_t *_Nonnull loop);

// Adds the descriptors of a new loop itself, for signals and wake-ups, or of handles that were just
// started to the epoll set, as libuv does in its next poll. If the kernel refuses one, the loop or
// the handle can only be closed; libuv would abort the process.
int cuv_loop_register(uv_loop_t *_Nonnull loop);

// The same for a handle that watches a path: all of a loop share one inotify descriptor, which libuv
// keeps after the last of them.
int cuv_loop_register_inotify(uv_loop_t *_Nonnull loop);

// Removes a handle from the list of those that libuv has yet to add to its epoll set. The caller
// adds it instead: libuv would watch for everything it was started for, in a call that also runs
// the callbacks of other handles, and it aborts the process if the kernel refuses.
void cuv_poll_settle(uv_poll_t *_Nonnull poll);

// Returns the eventfd behind libuv's wake-ups, or a negative number if it uses another kind of
// descriptor.
int cuv_loop_eventfd(const uv_loop_t *_Nonnull loop);

// Whether libuv would find a descriptor ready.
int cuv_has_ready_descriptor(const uv_loop_t *_Nonnull loop);

// Waits until libuv may have work, for a time in milliseconds at most.
void cuv_await_work(const uv_loop_t *_Nonnull loop, int milliseconds);

// Undoes a call of uv_stop, which outside of uv_run only makes the next one return without polling.
static inline void cuv_forget_stop(uv_loop_t *_Nonnull loop) { loop->stop_flag = 0; }

CUV_END

#endif
