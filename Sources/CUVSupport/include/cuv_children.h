#ifndef CUV_CHILDREN_H
#define CUV_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

// The end of a child, as waitid(2) tells it.
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

// Asks for the end of the child behind a pidfd, without waiting; returns 1 when there is one, and 0 when not.
//
// To ask only leaves the status with the child; otherwise the child is gone afterwards.
int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end);

#endif
