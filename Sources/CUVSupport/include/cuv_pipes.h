#ifndef CUV_PIPES_H
#define CUV_PIPES_H

#include <stddef.h>
#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Opens a pipe that no program inherits. The end that the process itself uses is non-blocking: the
// reading end, or the writing end if `writes` is set.
int cuv_pipe_open(int ends[_Nonnull 2], int writes);

// Reads what there is; returns the number of bytes, 0 at the end, or a negated errno.
ssize_t cuv_read(int descriptor, void *_Nonnull bytes, size_t count);

// The same for a pipe or socket that may be blocking, and that others read, too: returns -EAGAIN
// rather than wait. Before Linux 6.4 it waits, and for a pipe with a name.
ssize_t cuv_read_now(int descriptor, void *_Nonnull bytes, size_t count);

// Writes what there is room for; returns the number of bytes or a negated errno. The reader may be
// gone, or the file too large: the calling thread gets neither SIGPIPE nor SIGXFSZ.
ssize_t cuv_write(int descriptor, const void *_Nonnull bytes, size_t count);

CUV_END

#endif
