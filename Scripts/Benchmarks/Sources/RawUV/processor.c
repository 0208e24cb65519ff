#define _GNU_SOURCE
#include <sched.h>

#include "RawUV.h"

static cpu_set_t allowed;

int raw_pin_to_one_core(void) {
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        return sched_setaffinity(0, sizeof one, &one);
    }
    return -1;
}

void raw_unpin(void) { sched_setaffinity(0, sizeof allowed, &allowed); }
