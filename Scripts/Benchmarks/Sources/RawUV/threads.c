#include "RawUV.h"
#include "internal.h"

// MARK: A wake-up each way

struct partner {
    uv_loop_t loop;
    uv_async_t wake;
    uv_async_t *answer;
    uv_sem_t ready;
    uv_thread_t thread;
    int stops;
};

static void answer_wake(uv_async_t *wake) {
    struct partner *partner = wake->data;
    if (partner->stops) {
        uv_stop(wake->loop);
    } else {
        uv_async_send(partner->answer);
    }
}

static void run_partner(void *argument) {
    struct partner *partner = argument;
    open_loop(&partner->loop);
    must(uv_async_init(&partner->loop, &partner->wake, answer_wake), "uv_async_init");
    partner->wake.data = partner;
    uv_sem_post(&partner->ready);
    uv_run(&partner->loop, UV_RUN_DEFAULT);
    close_loop(&partner->loop);
}

static void start_partner(struct partner *partner, uv_async_t *answer) {
    partner->answer = answer;
    partner->stops = 0;
    uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = 256 * 1024};
    must(uv_sem_init(&partner->ready, 0), "uv_sem_init");
    must(
        uv_thread_create_ex(&partner->thread, &options, run_partner, partner), "uv_thread_create");
    uv_sem_wait(&partner->ready);
}

static void end_partner(struct partner *partner) {
    partner->stops = 1;
    uv_async_send(&partner->wake);
    uv_thread_join(&partner->thread);
    uv_sem_destroy(&partner->ready);
}

struct rally {
    struct partner *partners;
    int partner_count, next, left;
};

static void serve_next(uv_async_t *wake) {
    struct rally *rally = wake->data;
    if (rally->left-- == 0) {
        uv_stop(wake->loop);
        return;
    }
    uv_async_send(&rally->partners[rally->next].wake);
    rally->next = (rally->next + 1) % rally->partner_count;
}

// The first wake-up starts the rally and is not one of the round trips.
int64_t raw_uv_wake_one_thread_of(int threads, int round_trips) {
    uv_loop_t loop;
    uv_async_t wake;
    struct partner *partners = get_memory(threads, sizeof *partners);
    struct rally rally = {.partners = partners, .partner_count = threads, .left = round_trips};
    open_loop(&loop);
    must(uv_async_init(&loop, &wake, serve_next), "uv_async_init");
    wake.data = &rally;
    for (int index = 0; index < threads; index++) start_partner(&partners[index], &wake);

    int64_t start = now();
    uv_async_send(&wake);
    uv_run(&loop, UV_RUN_DEFAULT);
    int64_t time = now() - start;

    for (int index = 0; index < threads; index++) end_partner(&partners[index]);
    close_loop(&loop);
    free(partners);
    return time;
}

int64_t raw_uv_ping_pong(int round_trips) { return raw_uv_wake_one_thread_of(1, round_trips); }

// MARK: Threads that start, do one thing and end

static void stop_loop(uv_async_t *wake) { uv_stop(wake->loop); }

static void run_short_thread(void *argument) {
    (void)argument;
    uv_loop_t loop;
    uv_async_t wake;
    open_loop(&loop);
    must(uv_async_init(&loop, &wake, stop_loop), "uv_async_init");
    uv_async_send(&wake);
    uv_run(&loop, UV_RUN_DEFAULT);
    close_loop(&loop);
}

int64_t raw_uv_threads(int count) {
    int64_t start = now();
    for (int index = 0; index < count; index++) {
        uv_thread_t thread;
        must(uv_thread_create(&thread, run_short_thread, NULL), "uv_thread_create");
        uv_thread_join(&thread);
    }
    return now() - start;
}

// MARK: One of many sources

int64_t raw_uv_wake_one_source_of(int sources, int rounds) {
    uv_loop_t loop;
    open_loop(&loop);
    uv_async_t *all = get_memory(sources, sizeof *all);
    for (int index = 0; index < sources; index++) {
        must(uv_async_init(&loop, &all[index], ignore_async), "uv_async_init");
    }
    int64_t start = now();
    for (int round = 0; round < rounds; round++) {
        uv_async_send(&all[round % sources]);
        uv_run(&loop, UV_RUN_ONCE);
    }
    int64_t time = now() - start;
    close_loop(&loop);
    free(all);
    return time;
}
