#ifndef CUV_DISPATCH_H
#define CUV_DISPATCH_H

#include "cuv_linkage.h"

CUV_BEGIN

// Whether this process has a main queue that a run loop can serve.
int cuv_has_main_queue(void);

// Whether the program has used libdispatch, or contains its Swift module.
int cuv_may_use_main_queue(void);

// Sets a function that is called before each use of the main actor, on the calling thread. It
// cannot be removed, because the runtime may be between two reads of the hook.
void cuv_before_main_actor_use(void (*_Nonnull hook)(void));

// Returns an eventfd that is readable while the main queue has work; libdispatch creates it when it
// is first needed.
int cuv_main_queue_descriptor(void);

// Clears the eventfd; the work that it announced is performed by the next cuv_main_queue_drain.
void cuv_main_queue_clear(int descriptor);

// Runs the queued blocks; blocks queued meanwhile make the descriptor readable again.
void cuv_main_queue_drain(void);

CUV_END

#endif
