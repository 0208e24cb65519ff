#ifndef STRESS_SYSTEM_H
#define STRESS_SYSTEM_H

#include <stddef.h>

// What the system offers only to those who ask for GNU's functions, which Swift's Glibc does not.

/// Names the calling thread for debuggers and the like, which show 15 bytes.
void stress_name_thread(const char *name);

/// Writes down the name of the calling thread.
void stress_get_thread_name(char *name, size_t size);

/// How many bytes malloc has handed out and not got back.
size_t stress_allocated_bytes(void);

#endif
