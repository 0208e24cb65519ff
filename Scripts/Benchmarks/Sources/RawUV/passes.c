#include "RawUV.h"
#include "internal.h"
#include <malloc.h>

// One idle source keeps the loop alive: without it uv_run would not even poll.
int64_t raw_uv_passes(int count) {
    uv_loop_t loop;
    uv_async_t idle;
    open_loop(&loop);
    must(uv_async_init(&loop, &idle, ignore_async), "uv_async_init");
    int64_t start = now();
    for (int pass = 0; pass < count; pass++) uv_run(&loop, UV_RUN_NOWAIT);
    int64_t time = now() - start;
    close_loop(&loop);
    return time;
}

void raw_uv_count_passes(int count) { raw_uv_passes(count); }

const char *raw_uv_version(void) { return uv_version_string(); }
