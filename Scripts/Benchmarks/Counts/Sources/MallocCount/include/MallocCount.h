// MallocCount: counts what a program asks of the allocator and of the clock, and marks for other
// counters which part of the program is to be counted.
//
// Linked into a program, it takes the place of malloc and its kin, of clock_gettime, epoll_wait
// and write, for every library of the program. A part is counted between the begin and the end of
// one of the four functions below:
//   - allocations and readings of the clock by itself, for the thread that runs the part;
//   - jobs of the concurrency runtime's pool by itself, for all threads;
//   - system calls by strace: the part begins and ends with a write of its name to the descriptor
//     -1, which does nothing but show in a trace;
//   - instructions by callgrind, as the inclusive cost of the function.

#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

#include <stdbool.h>

/// Work to be counted, and what it works on.
typedef void (*count_body)(void *context);

/// The loop's thread carries out a round of operations.
void count_loop_single(count_body body, void *context);
/// The loop's thread carries out a round of twice as many.
void count_loop_double(count_body body, void *context);
/// The same for the thread that asks something of the loop's, whose small writes go out at the end.
void count_sender_single(count_body body, void *context);
void count_sender_double(count_body body, void *context);

/// The parts that the functions above count, in their order.
enum count_part {
    COUNT_LOOP_SINGLE,
    COUNT_LOOP_DOUBLE,
    COUNT_SENDER_SINGLE,
    COUNT_SENDER_DOUBLE,
    COUNT_PARTS
};

/// How often memory was asked for in a part.
long count_allocations(enum count_part part);
/// How often the clock was read in a part, by others than libuv.
long count_clock_reads(enum count_part part);
/// How many jobs any thread gave to the concurrency runtime's pool during a part.
long count_pool_jobs(enum count_part part);

/// The bytes that all threads together hold, by the allocator's own account.
long count_bytes_held(void);

/// Makes the monotonic clocks stand still.
///
/// No result then depends on how much time has passed, however slow the machine.
void count_stop_clocks(void);
/// The same, but that a sleep of a loop's takes as long as it takes.
///
/// A thread that is not let run between two sleeps then finds no date passed that is still to come
/// for others. What waits for dates in real time costs the same then, on a busy machine too.
void count_stop_clocks_but_in_sleeps(void);
/// Lets time pass on clocks that stand still.
void count_advance_clocks(long nanoseconds);

/// Has callgrind, if it is told to collect nothing by itself, count the instructions of the calling
/// thread from when a wait for events next returns with one.
void count_late_expect(void);
/// Ends that count.
void count_late_end(void);

/// The calling thread's number in /proc/self/task.
int count_thread_number(void);
/// Whether the kernel says that a thread of this process sleeps.
bool count_thread_sleeps(int number);

#endif
