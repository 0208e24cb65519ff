#ifndef CUV_DISPATCH_H
#define CUV_DISPATCH_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

// What libdispatch exports for a run loop that serves its main queue. The declarations are weak, so that nothing of
// libdispatch becomes part of a program on their account: where a program does without it, the addresses are null.
// They are resolved by the linker, and so work in programs that carry their copy of libdispatch in themselves.
__attribute__((weak)) int _dispatch_get_main_queue_handle_4CF(void);
__attribute__((weak)) void _dispatch_main_queue_callback_4CF(void *_Null_unspecified);
// True once libdispatch has a thread, a timer or a main queue in use; asking costs no system call.
__attribute__((weak)) bool _dispatch_is_multithreaded(void);
// DispatchQueue.main, as its Swift module exports it: there in programs that import Dispatch or Foundation.
__attribute__((weak)) extern const char cuv_swift_main_queue __asm__("$s8Dispatch0A5QueueC4mainACvgZ");

struct cuv_dispatch_state {
    pthread_t main_thread;
    bool is_lost;
};

// Every object file that calls this has one of its own: call the functions below from one only.
static inline struct cuv_dispatch_state *_Nonnull cuv_dispatch_state(void) {
    static struct cuv_dispatch_state state;
    return &state;
}

static inline bool cuv_dispatch_was_used(void) { return !_dispatch_is_multithreaded || _dispatch_is_multithreaded(); }

// libdispatch is of no use in a child of a process that had used it: its threads are missing there, and the descriptor
// of its main queue is the parent's too. Nor in one that another thread than the main one made: the main queue is not
// that thread's.
static inline void cuv_dispatch_in_child(void) {
    struct cuv_dispatch_state *state = cuv_dispatch_state();
    bool is_main = pthread_equal(state->main_thread, pthread_self());
    if (!is_main || cuv_dispatch_was_used()) state->is_lost = true;
}

// Before main, and so on the main thread: a process may fork before it asks for its first run loop. There is no system
// call in it, as nobody has asked for anything yet.
__attribute__((constructor)) static void cuv_dispatch_at_start(void) {
    cuv_dispatch_state()->main_thread = pthread_self();
    pthread_atfork(NULL, NULL, cuv_dispatch_in_child);
}

// Whether this process has a main queue that a run loop could serve.
static inline int cuv_has_main_queue(void) {
    // Without this mention the compiler would leave the function out.
    (void)&cuv_dispatch_at_start;
    return _dispatch_get_main_queue_handle_4CF && _dispatch_main_queue_callback_4CF && !cuv_dispatch_state()->is_lost;
}

// Whether the program has used libdispatch in any way, or has its Swift module at hand.
static inline int cuv_may_use_main_queue(void) { return &cuv_swift_main_queue != NULL || cuv_dispatch_was_used(); }

// An eventfd that is readable when the main queue has work; libdispatch makes it when it is first needed.
static inline int cuv_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

// Forgets the wake-ups so far; what they announced is run by the next call of the other function.
static inline void cuv_main_queue_clear(int descriptor) {
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
}

// Runs the blocks that wait; those that come meanwhile make the descriptor readable again.
static inline void cuv_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(NULL); }

#endif
