// Facts about the process and the calling thread, from the system.

#include "cuv_process.h"

#include <stdlib.h>
#include <sys/prctl.h>

const char *_Nullable cuv_environment(const char *_Nonnull name) { return getenv(name); }

int cuv_at_exit(void (*_Nonnull function)(void)) { return atexit(function); }

void cuv_thread_name(char *_Nonnull name) {
    name[0] = 0;
    prctl(PR_GET_NAME, name, 0, 0, 0);
}
