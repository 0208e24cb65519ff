#ifndef CUV_LOOPS_H
#define CUV_LOOPS_H

// By its path: Swift must find libuv's types in the module CUV, and only there.
#include "../../CUV/cuv.h"

// Makes a loop; one that could not be made leaves no descriptor behind, as it does with libuv up to 1.50.
int cuv_loop_init(uv_loop_t *_Nonnull loop);

// Tells the kernel of all that a new loop waits for on its own account: its signals, and its wake-ups. If the kernel
// refuses, the loop can only be closed, in a run that waits for nothing.
int cuv_loop_settle(uv_loop_t *_Nonnull loop);

// Takes a handle from the list of those which libuv has yet to tell the kernel of. The caller tells the kernel
// instead: libuv would ask for all that it was started for, with a call in which it also runs the callbacks of handles
// that are not the caller's, and it aborts the process if the kernel refuses.
void cuv_poll_settle(uv_poll_t *_Nonnull poll);

// The eventfd that libuv's wake-ups go through, or a negative number where it has another kind of descriptor.
int cuv_loop_eventfd(const uv_loop_t *_Nonnull loop);

// Whether libuv would find a descriptor ready.
int cuv_has_ready_descriptor(const uv_loop_t *_Nonnull loop);

// Waits until libuv may have something to do, for so many milliseconds at most.
void cuv_await_work(const uv_loop_t *_Nonnull loop, int milliseconds);

// Takes back a call of uv_stop: outside of uv_run it would only keep the next one from looking.
static inline void cuv_forget_stop(uv_loop_t *_Nonnull loop) { loop->stop_flag = 0; }

#endif
