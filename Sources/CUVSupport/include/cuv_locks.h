#ifndef CUV_LOCKS_H
#define CUV_LOCKS_H

#include <pthread.h>
#include <stdint.h>

// Initialises a mutex that spins briefly before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP, which the
// headers hide).
void cuv_mutex_init(pthread_mutex_t *_Nonnull mutex);

// Initialises a condition whose times are those of CLOCK_MONOTONIC.
void cuv_condition_init(pthread_cond_t *_Nonnull condition);

// Waits until a time in nanoseconds; returns 0, or a negated errno once the time has passed.
int cuv_condition_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, int64_t nanoseconds);

// Sleeps while a word has a value, for a time in nanoseconds at most; returns 1 if the time has
// passed, otherwise 0.
int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds);

// Wakes one thread that sleeps on a word.
void cuv_futex_wake(const void *_Nonnull word);

// Sleeps for at least 20 microseconds.
void cuv_nap(void);

// Tells the processor that this is a spin loop.
static inline void cuv_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
