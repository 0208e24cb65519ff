#ifndef CUV_MEMORY_H
#define CUV_MEMORY_H

#include <stddef.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Makes a block of memory larger, or makes one if there is none; what it holds may move. Ends the
// process if there is no memory. The kernel moves large blocks by their page tables: nothing is
// copied, and no page is touched anew.
void *_Nonnull cuv_memory_grow(void *_Nullable memory, size_t size);

void cuv_memory_free(void *_Nullable memory);

// Asks the processor to fetch what is about to be read and written.
static inline void cuv_memory_prefetch(const void *_Nonnull memory) {
    __builtin_prefetch(memory, 1);
}

CUV_END

#endif
