#ifndef CUV_FILES_H
#define CUV_FILES_H

#include <sys/auxv.h>

// Whether the process has rights that whoever started it has not, so that its environment is not to be trusted.
static inline int cuv_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

#endif
