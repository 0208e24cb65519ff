// Owns the process's state for libdispatch's main queue, and the hook of the main actor.

#include "cuv_dispatch.h"
#include "forks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

// Exported by libdispatch for a run loop that serves its main queue. The declarations are weak, so
// that they do not link libdispatch into a program: without it, the addresses are null. The linker
// resolves them, so they also work in programs that contain a static copy of libdispatch.
__attribute__((weak)) int _dispatch_get_main_queue_handle_4CF(void);
__attribute__((weak)) void _dispatch_main_queue_callback_4CF(void *_Null_unspecified);
// True once libdispatch uses a thread, a timer or a main queue; makes no system call.
__attribute__((weak)) bool _dispatch_is_multithreaded(void);
// DispatchQueue.main, as exported by its Swift module: present in programs that import Dispatch or
// Foundation.
__attribute__((weak)) extern const char swift_main_queue __asm__("$s8Dispatch0A5QueueC4mainACvgZ");

// The concurrency runtime's hook, called before it looks up the main actor's executor, as it does
// before each job that it enqueues.
typedef struct {
    void *_Nullable identity;
    uintptr_t implementation;
} executor;
typedef __attribute__((swiftcall)) executor (*executor_original)(void);
typedef __attribute__((swiftcall)) executor (*executor_hook)(executor_original _Nonnull original);
__attribute__((weak)) extern executor_hook _Nullable swift_task_getMainExecutor_hook;

static pthread_t main_thread;
// Whether this process is a forked child in which libdispatch cannot be used.
static bool is_lost;
// Both are set once, before the hook that reads them. Their accesses are relaxed atomics, because
// the runtime reads the hook in code that the thread sanitizer does not instrument.
static void (*_Nullable main_actor_hook)(void);
static executor_hook _Nullable outer_hook;

static bool dispatch_was_used(void) { return !_dispatch_is_multithreaded || _dispatch_is_multithreaded(); }

// libdispatch cannot be used in a child of a process that had used it: its threads are missing
// there, and its main queue's descriptor is shared with the parent. Nor in a child forked by
// another thread than the main one, which the main queue does not belong to.
static void check_forked_child(void) {
    bool is_main = pthread_equal(main_thread, pthread_self());
    if (!is_main || dispatch_was_used()) is_lost = true;
}

// Runs before main, and so on the main thread, because a process may fork before it creates its
// first run loop. Makes no system call, because the library may not be used at all.
__attribute__((constructor)) static void record_main_thread(void) {
    main_thread = pthread_self();
    cuv_at_fork(check_forked_child);
}

int cuv_has_main_queue(void) {
    return _dispatch_get_main_queue_handle_4CF && _dispatch_main_queue_callback_4CF && !is_lost;
}

int cuv_may_use_main_queue(void) { return &swift_main_queue != NULL || dispatch_was_used(); }

static __attribute__((swiftcall)) executor get_main_executor(executor_original _Nonnull original) {
    // The runtime has read the hook that leads here without one.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    __atomic_load_n(&main_actor_hook, __ATOMIC_RELAXED)();
    executor_hook outer = __atomic_load_n(&outer_hook, __ATOMIC_RELAXED);
    return outer ? outer(original) : original();
}

void cuv_before_main_actor_use(void (*_Nonnull hook)(void)) {
    if (&swift_task_getMainExecutor_hook == NULL || main_actor_hook) return;
    __atomic_store_n(&main_actor_hook, hook, __ATOMIC_RELAXED);
    __atomic_store_n(&outer_hook, swift_task_getMainExecutor_hook, __ATOMIC_RELAXED);
    __atomic_store_n(&swift_task_getMainExecutor_hook, get_main_executor, __ATOMIC_RELEASE);
}

int cuv_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void cuv_main_queue_clear(int descriptor) {
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
}

void cuv_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(NULL); }
