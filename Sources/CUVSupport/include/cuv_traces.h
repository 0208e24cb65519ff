#ifndef CUV_TRACES_H
#define CUV_TRACES_H

#include <stddef.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Opens a file to write, empties it, and locks it for this process. Returns the descriptor, or a
// negated errno: -EWOULDBLOCK if another process has the lock, -ENXIO for a named pipe that nobody
// reads.
int cuv_open_locked(const char *_Nonnull path);

// Ends the lock, for copies of the descriptor in forked children too.
int cuv_unlock(int descriptor);

// Writes all bytes; if that fails, a regular file has none of them. Returns 0, or a negated errno.
int cuv_append(int descriptor, const void *_Nonnull bytes, size_t count);

// Writes all bytes, by cuv_write: no signal is sent if nobody reads a pipe any more.
int cuv_write_all(int descriptor, const void *_Nonnull bytes, size_t count);

CUV_END

#endif
