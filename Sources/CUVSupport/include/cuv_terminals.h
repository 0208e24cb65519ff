#ifndef CUV_TERMINALS_H
#define CUV_TERMINALS_H

#include <stdint.h>
#include <termios.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Returns the number of a terminal, which all its descriptors share: those of /dev/tty, and those of
// the other end of a pseudo-terminal. Returns a negated errno for another kind of file.
int64_t cuv_terminal_number(int descriptor);

// Whether the process is in the background of its controlling terminal, and this is one of its
// descriptors.
int cuv_terminal_is_in_background(int descriptor);

// Does in the background of a terminal what the kernel does when it is used: sends SIGTTIN for
// reading or SIGTTOU for setting the mode, unless this thread blocks the signal or it is ignored.
// Does nothing in an orphaned group, which nobody would continue: the kernel fails the use.
//
// Returns whether a handler was called, once: the kernel would restart the use of the terminal for
// as long as the process is in the background. Without one, the process is stopped until it goes on
// in the foreground, and the use may begin.
int cuv_terminal_interrupts(int descriptor, int signal);

// Reads the flags of a terminal; returns 0 or a negated errno, which is not EINTR.
int cuv_terminal_get(int descriptor, struct termios *flags);

// Sets the flags of a terminal at once; returns 0 or a negated errno, which is EINTR in the
// background only.
int cuv_terminal_set(int descriptor, const struct termios *flags);

// Changes the present flags: every byte is passed on as it is typed, without echo and without
// signals for keys, and a line that is written begins at the left. Does not wait for output that is
// under way.
int cuv_terminal_make_raw(int descriptor, const struct termios *present);

CUV_END

#endif
