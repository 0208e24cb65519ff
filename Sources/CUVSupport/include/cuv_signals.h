#ifndef CUV_SIGNALS_H
#define CUV_SIGNALS_H

#include <signal.h>
#include <stdint.h>

// There is one table of signals for the process.

enum {
    cuv_signal_count = _NSIG,
};

// Has the arrivals of a signal told to an eventfd from now on, instead of its previous disposition.
int cuv_signal_take(int signal, int descriptor);

// Undoes cuv_signal_take. When it returns, no handler writes to the descriptor any more.
void cuv_signal_give_back(int signal);

// How often a signal came to this process.
uint64_t cuv_signal_arrivals(int signal);

// Counts arrivals of a signal, and tells those who wait for it. Safe in signal handlers.
void cuv_signal_note(int signal, uint64_t count);

// Has forked children get back the dispositions that their parent's sources had replaced.
int cuv_signals_watch_forks(void);

// A signalfd for one signal: readable while the signal waits because threads block it.
int cuv_signal_open_pending(int signal);

// Takes the signals that wait; returns how many.
int cuv_signal_take_pending(int descriptor);

#endif
