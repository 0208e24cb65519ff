#define _GNU_SOURCE
#include "BenchSystem.h"

#include <malloc.h>
#include <pthread.h>

void bench_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

void bench_get_thread_name(char *name, size_t size) {
    if (pthread_getname_np(pthread_self(), name, size) != 0) name[0] = 0;
}

size_t bench_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
