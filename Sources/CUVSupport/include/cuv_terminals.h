#ifndef CUV_TERMINALS_H
#define CUV_TERMINALS_H

#include <stdint.h>

// Returns the number of a terminal, which all its descriptors share: those of /dev/tty, and those of
// the other end of a pseudo-terminal. Returns a negated errno for another kind of file.
int64_t cuv_terminal_number(int descriptor);

// Whether the kernel would send a signal rather than let this thread use a terminal, because the
// process is in the terminal's background: SIGTTIN for reading, SIGTTOU for setting the mode.
int cuv_terminal_refuses(int descriptor, int signal);

// The same where the signal calls a handler. The kernel would then restart the use of the terminal,
// or libuv would, for as long as the process is in the background. Instead, the signal is sent once.
int cuv_terminal_interrupts(int descriptor, int signal);

#endif
