// Memory that grows in place where it can; Swift's own allocation always copies.

#include "cuv_memory.h"

#include <stdlib.h>

void *_Nonnull cuv_memory_grow(void *_Nullable memory, size_t size) {
    void *larger = realloc(memory, size);
    if (!larger) abort();
    return larger;
}

void cuv_memory_free(void *_Nullable memory) { free(memory); }
