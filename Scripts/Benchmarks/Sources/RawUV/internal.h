#ifndef RAW_UV_INTERNAL_H
#define RAW_UV_INTERNAL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

// Stops the program with a sentence: a benchmark that goes on after an error measures nonsense.
static inline void must(int status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "bench: %s: %s\n", what, uv_strerror(status));
    exit(1);
}

static inline void *get_memory(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) must(UV_ENOMEM, "calloc");
    return memory;
}

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static inline uint64_t milliseconds(int64_t nanoseconds) {
    return nanoseconds > 0 ? (uint64_t)((nanoseconds + 999999) / 1000000) : 0;
}

static inline void ignore_async(uv_async_t *handle) { (void)handle; }

static inline void close_any(uv_handle_t *handle, void *argument) {
    (void)argument;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static inline void open_loop(uv_loop_t *loop) { must(uv_loop_init(loop), "uv_loop_init"); }

// Closes what is still open in the loop, and the loop.
static inline void close_loop(uv_loop_t *loop) {
    uv_walk(loop, close_any, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    must(uv_loop_close(loop), "uv_loop_close");
}

#endif
