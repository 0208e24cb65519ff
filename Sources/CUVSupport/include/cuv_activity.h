#ifndef CUV_ACTIVITY_H
#define CUV_ACTIVITY_H

#include <stdint.h>

// What a loop's thread is doing.
struct cuv_activity {
    // Any thread may read it.
    uint64_t word;
    // The object whose handler runs, or NULL. Only the loop's own thread uses it, its signal
    // handlers included.
    void *_Nullable item;
};

static inline void cuv_activity_set(
    struct cuv_activity *_Nonnull activity, uint64_t word, void *_Nullable item) {
    activity->item = item;
    __atomic_store_n(&activity->word, word, __ATOMIC_RELEASE);
}

static inline uint64_t cuv_activity_word(const struct cuv_activity *_Nonnull activity) {
    return __atomic_load_n(&activity->word, __ATOMIC_ACQUIRE);
}

#endif
