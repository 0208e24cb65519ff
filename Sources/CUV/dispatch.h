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

// What the concurrency runtime lets others put in front of looking up the main actor's executor, as it does before each
// job that it hands over.
typedef struct {
    void *_Nullable identity;
    uintptr_t implementation;
} cuv_executor;
typedef __attribute__((swiftcall)) cuv_executor (*cuv_executor_original)(void);
typedef __attribute__((swiftcall)) cuv_executor (*cuv_executor_hook)(cuv_executor_original _Nonnull original);
__attribute__((weak)) extern cuv_executor_hook _Nullable swift_task_getMainExecutor_hook;

struct cuv_dispatch_state {
    pthread_t main_thread;
    bool is_lost;
    void (*_Nullable note_main_actor)(void);
    cuv_executor_hook _Nullable outer_hook;
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

static __attribute__((swiftcall)) cuv_executor cuv_get_main_executor(cuv_executor_original _Nonnull original) {
    struct cuv_dispatch_state *state = cuv_dispatch_state();
    state->note_main_actor();
    return state->outer_hook ? state->outer_hook(original) : original();
}

// Has a function called before each use of the main actor, on whichever thread that is. It is for good: the runtime may
// be between its looks at the hook.
static inline void cuv_note_main_actor(void (*_Nonnull note)(void)) {
    struct cuv_dispatch_state *state = cuv_dispatch_state();
    if (&swift_task_getMainExecutor_hook == NULL || state->note_main_actor) return;
    state->note_main_actor = note;
    state->outer_hook = swift_task_getMainExecutor_hook;
    __atomic_store_n(&swift_task_getMainExecutor_hook, cuv_get_main_executor, __ATOMIC_RELEASE);
}

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
