// Injection: calls of the system that fail on purpose.
//
// The functions of Calls.c stand in the program, and so before the C library's for every
// library of the program, libuv included: no preloading, and nothing in the product. A call counts,
// and may fail, when it comes from the product, from libuv or from Swift's thin overlay of the C
// library, on a thread that is a part of the operation. What the C library does inside itself (the
// mmap of a pthread_create, say) is out of reach, and so is what is no call: futexes are left alone
// because Swift's Mutex would end the process on their errors, which Linux does not give.

#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

/// How many functions can fail.
int fault_call_count(void);
/// A function's name.
const char *fault_call_name(int call);
/// The error with a number in a function's list; 0 behind the last.
int fault_error(int call, int number);
/// The name of an errno, such as ENOMEM.
const char *fault_error_name(int error);

/// Counts calls from now on.
void fault_begin_counting(void);
/// Has a function's n-th call from now on fail, and, if it lasts, all later ones; an interruption
/// (EINTR) lasts for fifty calls more.
void fault_begin(int call, long index, int error, bool lasts);
/// Lets everything be as it was.
void fault_end(void);

/// Goes on with a fault that was ended, as if the calls since had not been made.
void fault_resume(void);

/// How often a function was called.
long fault_calls(int call);
/// How often all of them were called.
long fault_calls_together(void);
/// How many calls failed on purpose.
long fault_hits(void);

/// With what a child exits in which libuv has aborted the process.
enum { fault_libuv_aborted = 70 };

#endif
