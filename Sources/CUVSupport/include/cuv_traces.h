#ifndef CUV_TRACES_H
#define CUV_TRACES_H

#include <stddef.h>

// Opens a file to write, empties it, and locks it for this process. Returns the descriptor, or a
// negated errno: -EWOULDBLOCK if another process has the lock.
int cuv_open_locked(const char *_Nonnull path);

// Writes all bytes.
int cuv_write_all(int descriptor, const void *_Nonnull bytes, size_t count);

// Returns the value of an environment variable, or NULL.
const char *_Nullable cuv_environment(const char *_Nonnull name);

// Registers a function that is called when the process exits.
int cuv_at_exit(void (*_Nonnull function)(void));

// Copies the calling thread's name as the system shows it: at most 15 bytes and a zero.
void cuv_thread_name(char *_Nonnull name);

enum { cuv_thread_name_size = 16 };

#endif
