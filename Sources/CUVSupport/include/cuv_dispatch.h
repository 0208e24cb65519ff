#ifndef CUV_DISPATCH_H
#define CUV_DISPATCH_H

// Whether this process has a main queue that a run loop could serve.
int cuv_has_main_queue(void);

// Whether the program has used libdispatch in any way, or has its Swift module at hand.
int cuv_may_use_main_queue(void);

// Has a function called before each use of the main actor, on whichever thread that is. It is for good: the runtime may
// be between its looks at the hook.
void cuv_before_main_actor_use(void (*_Nonnull hook)(void));

// An eventfd that is readable when the main queue has work; libdispatch makes it when it is first needed.
int cuv_main_queue_descriptor(void);

// Forgets the wake-ups so far; what they announced is run by the next call of the other function.
void cuv_main_queue_clear(int descriptor);

// Runs the blocks that wait; those that come meanwhile make the descriptor readable again.
void cuv_main_queue_drain(void);

#endif
