#ifndef RAW_UV_H
#define RAW_UV_H

#include <stdint.h>

// The jobs of the benchmark in plain C on plain libuv, with uv_run. Times are nanoseconds of the
// monotonic clock.

// Passes.
int64_t raw_uv_passes(int count);

// Timers: one preallocated uv_timer_t each. Delays are nanoseconds from the start, rounded up to
// libuv's milliseconds.
struct raw_uv_timer_times {
    int64_t insert;
    int64_t fire;
};
struct raw_uv_timer_times raw_uv_timers(const int64_t *_Nonnull delays, int count, int64_t last);
int64_t raw_uv_cancel(const int64_t *_Nonnull delays, const int32_t *_Nonnull order, int count);
// As raw_uv_cancel, each timer in memory of its own, which is freed after it was closed.
struct raw_uv_made_times {
    int64_t make;
    int64_t all;
};
struct raw_uv_made_times raw_uv_make_and_close(
    const int64_t *_Nonnull delays, const int32_t *_Nonnull order, int count);
int64_t raw_uv_redate(
    const int64_t *_Nonnull delays, const int64_t *_Nonnull other_delays,
    const int32_t *_Nonnull order, int count);
int64_t raw_uv_timer_bytes(const int64_t *_Nonnull delays, int count);
void raw_uv_lateness(const int64_t *_Nonnull delays, int count, int64_t *_Nonnull late);
// How often a loop that repeats timers wakes up. Delays and interval are nanoseconds.
int64_t raw_uv_wake_ups(
    const int64_t *_Nonnull delays, int count, int64_t interval, int64_t duration);

// Wake-ups between threads.
int64_t raw_uv_perform(int producers, int blocks_each);
int64_t raw_uv_ping_pong(int round_trips);
int64_t raw_uv_threads(int count);
int64_t raw_uv_wake_one_source_of(int sources, int rounds);
int64_t raw_uv_wake_one_thread_of(int threads, int round_trips);

// Descriptors. The idle ones and the scattered ones are the caller's eventfds.
int64_t raw_uv_pipe(const int32_t *_Nonnull idle, int idle_count, int events);
int64_t raw_uv_scattered(
    const int32_t *_Nonnull watched, int count, const int32_t *_Nonnull order, int events);

// Operations for others to count the system calls of.
void raw_uv_count_fires(int count, int interval_milliseconds);
void raw_uv_count_one_shots(int count, int64_t delay);
void raw_uv_count_passes(int count);
void raw_uv_count_signals(int count, int pause_microseconds);
void raw_uv_count_blocks(int count, int pause_microseconds);

// A new eventfd that does not block, or a negative number.
int raw_event_descriptor(void);

// Has the calling thread, and those that it starts from now on, use one core only; 0, or -1 where that is refused.
int raw_pin_to_one_core(void);
void raw_unpin(void);

const char *_Nonnull raw_uv_version(void);

#endif
