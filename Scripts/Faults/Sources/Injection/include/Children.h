// Children: forked processes that do something, with a watchdog, and say how far they came.

#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

typedef void (*child_body)(void *context);

enum { child_slots = 16, child_numbers = 96 };

/// The end of a child.
struct child_end {
    /// The status with which it exited; -1 when a signal ended it.
    int status;
    /// The signal that ended it, or 0. The watchdog's is SIGALRM.
    int signal;
    /// The step that it was in.
    char step[64];
    /// The problem that it complained of.
    char problem[192];
    /// Numbers that it left for the parent.
    long numbers[child_numbers];
};

/// Forks a child that calls the body and exits with 0.
///
/// The slot holds what the child says of itself, and is free again after the wait. The watchdog
/// ends the child after so many milliseconds.
pid_t child_start(int slot, long milliseconds, child_body body, void *context);

/// Waits for a child.
struct child_end child_wait(int slot, pid_t process);

/// Says what the child does next.
void child_note_step(const char *step);
/// Says what is wrong; only the first complaint is kept.
void child_note_problem(const char *problem);
/// Leaves a number for the parent.
void child_note_number(int index, long number);

/// Ends the child without the C library's clean-up.
_Noreturn void child_exit(int status);

#endif
