#ifndef CUV_SIGNALS_H
#define CUV_SIGNALS_H

#include <signal.h>
#include <stdint.h>

#include "cuv_linkage.h"

CUV_BEGIN

// There is one table of signals per process.

enum {
    cuv_signal_count = _NSIG,
};

// Has other threads wait that take or give back SIGCHLD, or check who handles it. Meanwhile the caller
// may have other code handle it, and restore it. It may be held for as long as a program takes to start.
void cuv_child_signal_lock(void);
void cuv_child_signal_unlock(void);

// The lock for taking a signal and giving it back: that of SIGCHLD; for another signal, none.
void cuv_signal_lock(int signal);
void cuv_signal_unlock(int signal);

// Makes a signal's arrivals write to an eventfd, in place of its previous disposition. Under the lock.
int cuv_signal_take(int signal, int descriptor);

// Whether a signal's disposition is still the one that cuv_signal_take has set.
int cuv_signal_is_taken(int signal);

// Undoes cuv_signal_take. When it returns, no handler writes to the descriptor any more. Under the lock.
void cuv_signal_give_back(int signal);

// Returns the number of arrivals of a signal in this process.
uint64_t cuv_signal_arrivals(int signal);

// Returns the place of a signal's latest arrival among those of all signals; 0 if there was none.
uint64_t cuv_signal_latest(int signal);

// Counts arrivals of a signal, and writes to its eventfd. Async-signal-safe.
void cuv_signal_record(int signal, uint64_t count);

// Opens a signalfd for one signal, which is readable while the signal is pending.
int cuv_signal_open_pending(int signal);

// Reads pending signals; returns how many there were.
int cuv_signal_take_pending(int descriptor);

CUV_END

#endif
