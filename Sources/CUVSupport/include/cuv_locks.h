#ifndef CUV_LOCKS_H
#define CUV_LOCKS_H

#include <pthread.h>
#include <stdint.h>

// A mutex that spins for a moment before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP, which the headers hide).
void cuv_mutex_init(pthread_mutex_t *_Nonnull mutex);

// A condition whose dates are those of CLOCK_MONOTONIC.
void cuv_condition_init(pthread_cond_t *_Nonnull condition);

// Waits until a moment in nanoseconds; returns 0, or a negated errno when the moment has come.
int cuv_condition_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, int64_t nanoseconds);

// Sleeps while a word has a value, for so many nanoseconds at most; returns 1 when they have passed, otherwise 0.
int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds);

// Wakes one thread that sleeps on a word.
void cuv_futex_wake(const void *_Nonnull word);

// Sleeps for 20 microseconds at least.
void cuv_nap(void);

// Tells the processor that this is a loop which waits for another one.
static inline void cuv_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
