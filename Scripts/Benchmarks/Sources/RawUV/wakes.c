#include "RawUV.h"
#include "internal.h"

// MARK: Blocks from other threads

struct block {
    struct block *next;
    void (*body)(void *);
    void *argument;
};

// A list behind a mutex; the loop is woken when it was empty.
struct mailbox {
    uv_loop_t loop;
    uv_async_t wake;
    uv_mutex_t mutex;
    struct block *first, **last;
    // Written by the loop's thread, read by one that counts.
    _Atomic int left;
    uintptr_t sum;
};

struct producer {
    uv_thread_t thread;
    struct mailbox *mailbox;
    uv_barrier_t *gate;
    int first, count;
};

static struct mailbox *current_mailbox;

static void count_block(void *argument) {
    struct mailbox *mailbox = current_mailbox;
    mailbox->sum += (uintptr_t)argument;
    if (--mailbox->left == 0) uv_stop(&mailbox->loop);
}

static void hand_over(struct mailbox *mailbox, void (*body)(void *), void *argument) {
    struct block *block = malloc(sizeof *block);
    if (block == NULL) must(UV_ENOMEM, "malloc");
    *block = (struct block){.body = body, .argument = argument};
    uv_mutex_lock(&mailbox->mutex);
    int was_empty = mailbox->first == NULL;
    *mailbox->last = block;
    mailbox->last = &block->next;
    uv_mutex_unlock(&mailbox->mutex);
    if (was_empty) uv_async_send(&mailbox->wake);
}

static void perform_blocks(uv_async_t *wake) {
    struct mailbox *mailbox = wake->data;
    uv_mutex_lock(&mailbox->mutex);
    struct block *block = mailbox->first;
    mailbox->first = NULL;
    mailbox->last = &mailbox->first;
    uv_mutex_unlock(&mailbox->mutex);
    while (block != NULL) {
        struct block *next = block->next;
        block->body(block->argument);
        free(block);
        block = next;
    }
}

static void open_mailbox(struct mailbox *mailbox, int blocks) {
    *mailbox = (struct mailbox){.left = blocks};
    mailbox->last = &mailbox->first;
    open_loop(&mailbox->loop);
    must(uv_async_init(&mailbox->loop, &mailbox->wake, perform_blocks), "uv_async_init");
    mailbox->wake.data = mailbox;
    must(uv_mutex_init(&mailbox->mutex), "uv_mutex_init");
    current_mailbox = mailbox;
}

static void close_mailbox(struct mailbox *mailbox) {
    close_loop(&mailbox->loop);
    uv_mutex_destroy(&mailbox->mutex);
}

static void produce(void *argument) {
    struct producer *producer = argument;
    uv_barrier_wait(producer->gate);
    for (int index = 0; index < producer->count; index++) {
        hand_over(producer->mailbox, count_block, (void *)(uintptr_t)(producer->first + index));
    }
}

int64_t raw_uv_perform(int producers, int blocks_each) {
    struct mailbox mailbox;
    uv_barrier_t gate;
    int blocks = producers * blocks_each;
    open_mailbox(&mailbox, blocks);
    must(uv_barrier_init(&gate, producers + 1), "uv_barrier_init");
    struct producer *all = get_memory(producers, sizeof *all);
    for (int index = 0; index < producers; index++) {
        struct producer *producer = &all[index];
        *producer = (struct producer){
            .mailbox = &mailbox, .gate = &gate, .first = index * blocks_each, .count = blocks_each};
        must(uv_thread_create(&producer->thread, produce, producer), "uv_thread_create");
    }
    uv_barrier_wait(&gate);
    int64_t start = now();
    uv_run(&mailbox.loop, UV_RUN_DEFAULT);
    int64_t time = now() - start;
    for (int index = 0; index < producers; index++) uv_thread_join(&all[index].thread);
    if (mailbox.sum != (uintptr_t)blocks * (blocks - 1) / 2) must(UV_UNKNOWN, "blocks were lost");
    free(all);
    uv_barrier_destroy(&gate);
    close_mailbox(&mailbox);
    return time;
}

// MARK: Counting

struct sender {
    struct mailbox *mailbox;
    int count, pause;
};

// Waits until all but so many are handled, and lets the loop fall asleep.
static void wait_for(const _Atomic int *left, int count, int pause_microseconds) {
    struct timespec pause = {.tv_nsec = pause_microseconds * 1000L};
    do clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    while (*left > count);
}

static void send_blocks(void *argument) {
    struct sender *sender = argument;
    for (int index = 0; index < sender->count; index++) {
        wait_for(&sender->mailbox->left, sender->count - index, sender->pause);
        hand_over(sender->mailbox, count_block, NULL);
    }
}

void raw_uv_count_blocks(int count, int pause_microseconds) {
    struct mailbox mailbox;
    uv_thread_t thread;
    open_mailbox(&mailbox, count);
    struct sender sender = {.mailbox = &mailbox, .count = count, .pause = pause_microseconds};
    must(uv_thread_create(&thread, send_blocks, &sender), "uv_thread_create");
    uv_run(&mailbox.loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    close_mailbox(&mailbox);
}

struct signaller {
    uv_async_t wake;
    _Atomic int left;
    int pause;
};

static void note_signal(uv_async_t *wake) {
    struct signaller *signaller = wake->data;
    if (--signaller->left == 0) uv_stop(wake->loop);
}

static void send_signals(void *argument) {
    struct signaller *signaller = argument;
    int count = signaller->left;
    for (int index = 0; index < count; index++) {
        wait_for(&signaller->left, count - index, signaller->pause);
        uv_async_send(&signaller->wake);
    }
}

void raw_uv_count_signals(int count, int pause_microseconds) {
    uv_loop_t loop;
    uv_thread_t thread;
    struct signaller signaller = {.left = count, .pause = pause_microseconds};
    open_loop(&loop);
    must(uv_async_init(&loop, &signaller.wake, note_signal), "uv_async_init");
    signaller.wake.data = &signaller;
    must(uv_thread_create(&thread, send_signals, &signaller), "uv_thread_create");
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    close_loop(&loop);
}

static void count_down(uv_timer_t *timer) {
    int *left = timer->data;
    if (--*left == 0) uv_stop(timer->loop);
}

void raw_uv_count_fires(int count, int interval_milliseconds) {
    uv_loop_t loop;
    uv_timer_t timer;
    open_loop(&loop);
    must(uv_timer_init(&loop, &timer), "uv_timer_init");
    timer.data = &count;
    uv_timer_start(&timer, count_down, interval_milliseconds, interval_milliseconds);
    uv_run(&loop, UV_RUN_DEFAULT);
    close_loop(&loop);
}

void raw_uv_count_one_shots(int count, int64_t delay) {
    int64_t *delays = get_memory(count, sizeof *delays);
    int64_t *latenesses = get_memory(count, sizeof *latenesses);
    for (int index = 0; index < count; index++) delays[index] = delay;
    raw_uv_lateness(delays, count, latenesses);
    free(delays);
    free(latenesses);
}
