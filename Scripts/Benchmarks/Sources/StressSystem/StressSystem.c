#define _GNU_SOURCE
#include "StressSystem.h"

#include <malloc.h>
#include <pthread.h>

void stress_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

void stress_get_thread_name(char *name, size_t size) {
    if (pthread_getname_np(pthread_self(), name, size) != 0) name[0] = 0;
}

size_t stress_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
