#ifndef CUV_TRACES_H
#define CUV_TRACES_H

#include <stddef.h>

// Opens a file to write, empties it, and locks it for this process. Returns the descriptor, or a
// negated errno: -EWOULDBLOCK if another process has the lock.
int cuv_open_locked(const char *_Nonnull path);

// Writes all bytes.
int cuv_write_all(int descriptor, const void *_Nonnull bytes, size_t count);

#endif
