#include "RawUV.h"
#include "internal.h"

struct lateness {
    const int64_t *delays;
    int64_t *late;
    int64_t due;
    int index, count;
};

static void note_lateness(uv_timer_t *timer);

static void free_timer(uv_handle_t *timer) { free(timer); }

// One timer at a time, a new one for each date. The date is taken before the timer is made.
static void start_next(uv_loop_t *loop) {
    struct lateness *job = loop->data;
    int64_t delay = job->delays[job->index];
    job->due = now() + delay;
    uv_timer_t *timer = get_memory(1, sizeof *timer);
    must(uv_timer_init(loop, timer), "uv_timer_init");
    uv_update_time(loop);
    uv_timer_start(timer, note_lateness, milliseconds(delay), 0);
}

static void note_lateness(uv_timer_t *timer) {
    struct lateness *job = timer->loop->data;
    job->late[job->index++] = now() - job->due;
    uv_close((uv_handle_t *)timer, free_timer);
    if (job->index < job->count) start_next(timer->loop);
}

void raw_uv_lateness(const int64_t *delays, int count, int64_t *late) {
    struct lateness job = {.delays = delays, .late = late, .count = count};
    uv_loop_t loop;
    open_loop(&loop);
    loop.data = &job;
    start_next(&loop);
    uv_run(&loop, UV_RUN_DEFAULT);
    close_loop(&loop);
}

// MARK: Many repeating timers

static int64_t wake_ups;

static void ignore_fire(uv_timer_t *timer) { (void)timer; }
static void end_run(uv_timer_t *timer) { uv_stop(timer->loop); }

static void note_wake_up(uv_check_t *check) {
    (void)check;
    wake_ups++;
}

int64_t raw_uv_wake_ups(const int64_t *delays, int count, int64_t interval, int64_t duration) {
    uv_loop_t loop;
    uv_timer_t end;
    uv_check_t check;
    open_loop(&loop);
    must(uv_timer_init(&loop, &end), "uv_timer_init");
    must(uv_check_init(&loop, &check), "uv_check_init");
    uv_timer_t *timers = get_memory(count, sizeof *timers);
    for (int index = 0; index < count; index++) {
        must(uv_timer_init(&loop, &timers[index]), "uv_timer_init");
        uv_timer_start(
            &timers[index], ignore_fire, milliseconds(delays[index]), milliseconds(interval));
    }
    wake_ups = 0;
    uv_check_start(&check, note_wake_up);
    uv_timer_start(&end, end_run, milliseconds(duration), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    int64_t result = wake_ups;
    close_loop(&loop);
    free(timers);
    return result;
}
