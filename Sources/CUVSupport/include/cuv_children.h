#ifndef CUV_CHILDREN_H
#define CUV_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// The end of a child, as reported by waitid(2).
struct cuv_end {
    int code;
    int status;
};

enum {
    cuv_end_exited = CLD_EXITED,
    cuv_end_killed = CLD_KILLED,
    cuv_end_dumped = CLD_DUMPED,
};

// Opens a pidfd, which is readable once the child has ended.
int cuv_child_open(pid_t process);

// Queries the end of the child behind a pidfd, without waiting; returns 1 if it has ended,
// otherwise 0.
//
// If only_asks is set, the status can be collected later; otherwise it is collected now.
int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end);

// Waits for the end of the child behind a pidfd, unless its status was collected, and collects it.
void cuv_child_await_end(int descriptor);

// Sends a signal to the child behind a pidfd.
int cuv_child_signal(int descriptor, int signal);

// Begins the start of a child by the calling thread, with fork and exec; other threads' starts wait
// for cuv_child_started.
//
// The program inherits none of this process's descriptors but the standard ones. They are marked in
// the forked child: in this process other threads open and close descriptors meanwhile.
//
// libuv handles SIGCHLD while it starts a child; the disposition is restored afterwards. A signal source
// for it is made and ended before or after.
void cuv_child_starts(void);
void cuv_child_started(void);

CUV_END

#endif
