#ifndef CUV_PROCESS_H
#define CUV_PROCESS_H

#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Returns the value of an environment variable, or NULL.
const char *_Nullable cuv_environment(const char *_Nonnull name);

// Returns the system's text for an errno.
const char *_Nonnull cuv_error_text(int error);

// Registers a function that is called when the process exits.
int cuv_at_exit(void (*_Nonnull function)(void));

// Brackets a call of libuv's that uses what the loops of the process share. At the end of exit(),
// when libuv is about to take that away, begin returns 0, and the call may not be made.
int cuv_begin_shared_call(void);
void cuv_end_shared_call(void);

// Records which process has the threads of libuv's pool, before it has them.
void cuv_set_pool_process(pid_t process);

// Records whether the calling thread, one of libuv's pool, does work of the program, which may call
// exit().
void cuv_set_in_pool_work(int is_in_work);

// Copies the calling thread's name as the system shows it: at most 15 bytes and a zero.
void cuv_thread_name(char *_Nonnull name);

enum { cuv_thread_name_size = 16 };

CUV_END

#endif
