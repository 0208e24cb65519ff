#ifndef CUV_LOCKS_H
#define CUV_LOCKS_H

#include <stdint.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Sleeps while a word has a value, for a time in nanoseconds at most; returns 1 if the time has
// passed, otherwise 0.
int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds);

// Wakes that many threads that sleep on a word, those that fell asleep first.
void cuv_futex_wake(const void *_Nonnull word, int count);

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

CUV_END

#endif
