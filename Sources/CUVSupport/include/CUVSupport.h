#ifndef CUV_SUPPORT_H
#define CUV_SUPPORT_H

// For C features that Swift cannot import (packed unions, variadic calls, macros, thread-local
// variables, weak symbols), and for signal handlers, which must be C.
//
// A function that can fail returns 0 (or a count or a descriptor) or a negated errno, as libuv's
// do. A predicate returns 1 or 0.
//
// Headers contain no variables: each module that imports one would get a copy. Few functions are
// `static inline`: cuv_pause, cuv_forget_stop and cuv_memory_prefetch, which are one instruction
// each, and those called in every pass of a loop, wake-up or timer. Out of line, cuv_epoll_ready
// took 24 more instructions, cuv_timer_set 14 and cuv_event_signal 11, as counted by
// Scripts/check-budget. All other functions are in the .c files.

#include "cuv_children.h"
#include "cuv_clocks.h"
#include "cuv_descriptors.h"
#include "cuv_dispatch.h"
#include "cuv_epoll.h"
#include "cuv_events.h"
#include "cuv_forks.h"
#include "cuv_locks.h"
#include "cuv_loops.h"
#include "cuv_memory.h"
#include "cuv_objects.h"
#include "cuv_pipes.h"
#include "cuv_process.h"
#include "cuv_signals.h"
#include "cuv_sockets.h"
#include "cuv_stacks.h"
#include "cuv_tasks.h"
#include "cuv_terminals.h"
#include "cuv_threads.h"
#include "cuv_traces.h"

#endif
