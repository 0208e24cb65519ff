// Asks whether a call is to fail.

#ifndef FAILING_H
#define FAILING_H

#include "Calls.h"

#define NUMBER(call, ...) fault_##call,
enum fault_call { FAULT_CALLS(NUMBER) fault_calls_in_all };

/// Counts a call; returns the error with which it is to fail, or 0.
int failing(enum fault_call call, const void *caller);

#endif
