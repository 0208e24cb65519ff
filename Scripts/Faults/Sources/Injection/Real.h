// The C library's own functions, under the ones that this program puts in front of them.

#ifndef REAL_H
#define REAL_H

#include <dlfcn.h>

// Looked up at the first call: libraries call some of these before any constructor of ours.
#define REAL(function)                                                         \
    ({                                                                         \
        static void *found;                                                    \
        if (!found) found = dlsym(RTLD_NEXT, #function);                       \
        (__typeof__(&function))found;                                          \
    })

#endif
