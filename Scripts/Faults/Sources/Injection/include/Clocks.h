// Clocks that do what clocks do rarely. What sleeps until a date (timerfds, conditions) sleeps by
// the same clock.

#ifndef CLOCKS_H
#define CLOCKS_H

/// Has the monotonic clock show each time so often before it goes on; 1 lets it run.
void clock_show_each(long readings);
/// Moves the monotonic clock, forwards or, which no kernel does, backwards.
void clock_jump(long nanoseconds);
/// Moves the clock of the day.
void clock_jump_day(long nanoseconds);

/// Has a signal interrupt the process every so many microseconds, whatever it is doing: each time
/// another thread, but never the calling one. System calls are not restarted. 0 ends it.
void clock_interrupt_every(long microseconds);
/// Has the calling thread, and those that it starts, be interrupted too.
void clock_let_interrupt_thread(void);
/// How often the process was interrupted.
long clock_interruptions(void);

/// Has this process stopped (SIGSTOP), and continued after so many milliseconds. Returns when it is
/// arranged; the stop may come a moment later.
int clock_stop_process(long milliseconds);
/// Waits for the end of a stop.
void clock_await_stop(int stop);

#endif
