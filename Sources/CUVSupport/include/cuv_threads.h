#ifndef CUV_THREADS_H
#define CUV_THREADS_H

#include <stdint.h>
#include <sys/types.h>

pid_t cuv_thread_id(void);

// Names the calling thread; more than 15 bytes are cut off.
void cuv_name_thread(const char *_Nonnull name);

int cuv_is_main_thread(void);

// What the library knows of a thread.
struct cuv_thread {
    void *_Nullable record;
    uint64_t identity;
    uint64_t generation;
    void *_Nullable home;
    void *_Nullable loop;
    uintptr_t loop_place;
};

// The calling thread's. Unlike a thread-specific key's value it stays to the very end of the thread, after all
// destructors.
struct cuv_thread *_Nonnull cuv_current_thread(void);

// Has a function called when the calling thread ends, before the destructors of thread-specific keys: what thread_local
// objects of C++ use. Asked too late, among those destructors, it is never called.
int cuv_at_thread_end(void (*_Nonnull function)(void *_Nullable), void *_Nullable argument);

// Whether a thread of this process has left the system. One that has taken its number since counts as itself.
int cuv_is_thread_gone(pid_t thread);

#endif
