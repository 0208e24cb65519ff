#include "BenchSystem.h"
#include "RawUV.h"
#include "internal.h"

static int fired;

static void count_fire(uv_timer_t *timer) {
    (void)timer;
    fired++;
}

static uv_timer_t *make_timers(uv_loop_t *loop, int count) {
    uv_timer_t *timers = get_memory(count, sizeof *timers);
    for (int index = 0; index < count; index++) {
        must(uv_timer_init(loop, &timers[index]), "uv_timer_init");
    }
    return timers;
}

static void start_timers(
    uv_loop_t *loop, uv_timer_t *timers, const int64_t *delays, int count, uint64_t repeat) {
    uv_update_time(loop);
    for (int index = 0; index < count; index++) {
        uv_timer_start(&timers[index], count_fire, milliseconds(delays[index]), repeat);
    }
}

static void sleep_until(int64_t date) {
    struct timespec time = {.tv_sec = date / 1000000000, .tv_nsec = date % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
}

struct raw_uv_timer_times raw_uv_timers(const int64_t *delays, int count, int64_t last) {
    struct raw_uv_timer_times times;
    uv_loop_t loop;
    open_loop(&loop);
    uv_timer_t *timers = make_timers(&loop, count);

    int64_t start = now();
    start_timers(&loop, timers, delays, count, 0);
    times.insert = now() - start;

    // Two milliseconds more, because libuv's dates are whole ones.
    sleep_until(start + last + 2000000);
    fired = 0;
    start = now();
    uv_run(&loop, UV_RUN_DEFAULT);
    times.fire = now() - start;
    if (fired != count) must(UV_UNKNOWN, "not every timer has fired");

    close_loop(&loop);
    free(timers);
    return times;
}

int64_t raw_uv_cancel(const int64_t *delays, const int32_t *order, int count) {
    uv_loop_t loop;
    open_loop(&loop);
    uv_timer_t *timers = make_timers(&loop, count);
    int64_t start = now();
    start_timers(&loop, timers, delays, count, 0);
    for (int index = 0; index < count; index++) uv_timer_stop(&timers[order[index]]);
    int64_t time = now() - start;
    close_loop(&loop);
    free(timers);
    return time;
}

static void free_timer(uv_handle_t *timer) { free(timer); }

struct raw_uv_made_times raw_uv_make_and_close(
    const int64_t *delays, const int32_t *order, int count) {
    struct raw_uv_made_times times;
    uv_loop_t loop;
    open_loop(&loop);
    uv_timer_t **timers = get_memory(count, sizeof *timers);
    int64_t start = now();
    uv_update_time(&loop);
    for (int index = 0; index < count; index++) {
        uv_timer_t *timer = get_memory(1, sizeof *timer);
        must(uv_timer_init(&loop, timer), "uv_timer_init");
        uv_timer_start(timer, count_fire, milliseconds(delays[index]), 0);
        timers[index] = timer;
    }
    times.make = now() - start;
    for (int index = 0; index < count; index++) {
        uv_close((uv_handle_t *)timers[order[index]], free_timer);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    times.all = now() - start;
    close_loop(&loop);
    free(timers);
    return times;
}

int64_t raw_uv_redate(
    const int64_t *delays, const int64_t *other_delays, const int32_t *order, int count) {
    uv_loop_t loop;
    open_loop(&loop);
    uv_timer_t *timers = make_timers(&loop, count);
    start_timers(&loop, timers, delays, count, 0);
    int64_t start = now();
    for (int index = 0; index < count; index++) {
        int timer = order[index];
        uv_timer_start(&timers[timer], count_fire, milliseconds(other_delays[timer]), 0);
    }
    int64_t time = now() - start;
    close_loop(&loop);
    free(timers);
    return time;
}

int64_t raw_uv_timer_bytes(const int64_t *delays, int count) {
    uv_loop_t loop;
    open_loop(&loop);
    size_t before = bench_allocated_bytes();
    uv_timer_t *timers = make_timers(&loop, count);
    start_timers(&loop, timers, delays, count, 0);
    int64_t bytes = (int64_t)(bench_allocated_bytes() - before);
    close_loop(&loop);
    free(timers);
    return bytes;
}
