#ifndef CUV_THREADS_H
#define CUV_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

pid_t cuv_thread_id(void);

// Names the calling thread; bytes after the fifteenth are cut off.
void cuv_name_thread(const char *_Nonnull name);

// Waits for the end of a thread until a time of CLOCK_MONOTONIC in nanoseconds, which is not
// negative; returns 0, or an errno.
int cuv_join_thread(pthread_t thread, int64_t nanoseconds);

// The library's thread-local state.
struct cuv_thread {
    void *_Nullable record;
    uint64_t identity;
    uint64_t forkCount;
    void *_Nullable loop;
    uintptr_t loop_location;
    // The word of the loop that says until when it performs queued work after it was ended.
    uint64_t *_Nullable loop_end;
};

extern _Thread_local struct cuv_thread cuv_thread_state;

// Returns the calling thread's state. Unlike the value of a thread-specific key, it exists until
// the very end of the thread, after all destructors.
static inline struct cuv_thread *_Nonnull cuv_current_thread(void) { return &cuv_thread_state; }

// Registers a function that is called when the calling thread ends, before the destructors of
// thread-specific keys, as those of C++ thread_local objects are. If registered in such a
// destructor, it is never called.
int cuv_at_thread_end(void (*_Nonnull function)(void *_Nullable), void *_Nullable argument);

// Whether a thread of this process has ended. A later thread with the same ID counts as the same
// thread.
int cuv_is_thread_gone(pid_t thread);

// Whether the process has no other thread than the calling one; 0 if /proc does not tell.
int cuv_is_only_thread(void);

CUV_END

#endif
