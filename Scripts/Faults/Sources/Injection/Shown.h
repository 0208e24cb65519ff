// The time of a clock that was moved.

#ifndef SHOWN_H
#define SHOWN_H

#include <time.h>

/// When the kernel's clock shows what the moved one shows at a date.
struct timespec kernel_date(clockid_t clock, struct timespec date);

#endif
