#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stddef.h>

// GNU's functions, which Swift's Glibc module does not have.

/// Names the calling thread for debuggers and the like, which show 15 bytes.
void bench_name_thread(const char *name);

/// Copies the calling thread's name, terminated by a zero.
void bench_get_thread_name(char *name, size_t size);

/// How many bytes malloc has handed out and not got back, in all its arenas; 0 where another malloc
/// takes its place.
size_t bench_allocated_bytes(void);

#endif
