#ifndef CUV_FORKS_H
#define CUV_FORKS_H

#include <stdint.h>

#include "cuv_linkage.h"

CUV_BEGIN

/// The number of forks between this process and the one that loaded the library.
static inline uint64_t cuv_fork_count(void) {
    extern uint64_t cuv_forks;
    return __atomic_load_n(&cuv_forks, __ATOMIC_RELAXED);
}

CUV_END

#endif
