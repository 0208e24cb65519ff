#ifndef CUV_SUPPORT_H
#define CUV_SUPPORT_H

// What Swift cannot import from C (packed unions, variadic calls, macros, thread-local variables, weak symbols), and
// what must be C: signal handlers.
//
// A function that can fail returns 0 (or a count or a descriptor) or a negated errno, as libuv's do; one that asks a
// question, 1 or 0.
//
// Headers hold no variable: each module that imported one would get a copy. Of the functions few are `static inline`:
// cuv_pause and cuv_forget_stop, which are one instruction each, and what a pass of a loop, a wake-up or a timer does
// each time. Out of line, cuv_epoll_ready cost 24 instructions more, cuv_timer_set 14 and cuv_event_signal 11, as
// counted by Scripts/check-budget. All other functions are in the .c files.

#include "cuv_children.h"
#include "cuv_clocks.h"
#include "cuv_descriptors.h"
#include "cuv_dispatch.h"
#include "cuv_epoll.h"
#include "cuv_events.h"
#include "cuv_locks.h"
#include "cuv_loops.h"
#include "cuv_signals.h"
#include "cuv_sockets.h"
#include "cuv_threads.h"

#endif
