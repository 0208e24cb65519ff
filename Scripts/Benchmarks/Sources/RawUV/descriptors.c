#include "RawUV.h"
#include "internal.h"
#include <sys/eventfd.h>
#include <unistd.h>

int raw_event_descriptor(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static void ignore_poll(uv_poll_t *poll, int status, int events) {
    (void)poll;
    (void)status;
    (void)events;
}

static uv_poll_t *watch(uv_loop_t *loop, const int32_t *descriptors, int count, uv_poll_cb call) {
    uv_poll_t *polls = get_memory(count, sizeof *polls);
    for (int index = 0; index < count; index++) {
        must(uv_poll_init(loop, &polls[index], descriptors[index]), "uv_poll_init");
        must(uv_poll_start(&polls[index], UV_READABLE, call), "uv_poll_start");
    }
    return polls;
}

// MARK: One byte through a watched pipe

struct pipe_job {
    int read_end, write_end;
    int left;
};

static void write_byte(int descriptor) {
    char byte = 1;
    if (write(descriptor, &byte, 1) != 1) must(UV_EIO, "write");
}

static void pass_byte_on(uv_poll_t *poll, int status, int events) {
    (void)events;
    must(status, "uv_poll");
    struct pipe_job *job = poll->data;
    char byte;
    if (read(job->read_end, &byte, 1) != 1) must(UV_EIO, "read");
    if (--job->left == 0) {
        uv_stop(poll->loop);
    } else {
        write_byte(job->write_end);
    }
}

int64_t raw_uv_pipe(const int32_t *idle, int idle_count, int events) {
    uv_loop_t loop;
    uv_poll_t poll;
    uv_file ends[2];
    open_loop(&loop);
    uv_poll_t *idle_polls = watch(&loop, idle, idle_count, ignore_poll);
    must(uv_pipe(ends, 0, 0), "uv_pipe");
    struct pipe_job job = {.read_end = ends[0], .write_end = ends[1], .left = events};
    must(uv_poll_init(&loop, &poll, ends[0]), "uv_poll_init");
    poll.data = &job;
    must(uv_poll_start(&poll, UV_READABLE, pass_byte_on), "uv_poll_start");

    int64_t start = now();
    write_byte(job.write_end);
    uv_run(&loop, UV_RUN_DEFAULT);
    int64_t time = now() - start;

    close_loop(&loop);
    close(ends[0]);
    close(ends[1]);
    free(idle_polls);
    return time;
}

// MARK: Events scattered over many descriptors

struct scattered_job {
    const int32_t *watched, *order;
    int count, next, left;
};

static void notify_next(struct scattered_job *job) {
    uint64_t one = 1;
    int descriptor = job->watched[job->order[job->next]];
    job->next = (job->next + 1) % job->count;
    if (write(descriptor, &one, sizeof one) != sizeof one) must(UV_EIO, "write");
}

static void take_and_notify(uv_poll_t *poll, int status, int events) {
    (void)events;
    must(status, "uv_poll");
    struct scattered_job *job = poll->loop->data;
    uint64_t value;
    uv_os_fd_t descriptor;
    must(uv_fileno((uv_handle_t *)poll, &descriptor), "uv_fileno");
    if (read(descriptor, &value, sizeof value) != sizeof value) must(UV_EIO, "read");
    if (--job->left == 0) {
        uv_stop(poll->loop);
    } else {
        notify_next(job);
    }
}

int64_t raw_uv_scattered(
    const int32_t *watched, int count, const int32_t *order, int events) {
    uv_loop_t loop;
    struct scattered_job job = {
        .watched = watched, .order = order, .count = count, .left = events};
    open_loop(&loop);
    loop.data = &job;
    uv_poll_t *polls = watch(&loop, watched, count, take_and_notify);
    int64_t start = now();
    notify_next(&job);
    uv_run(&loop, UV_RUN_DEFAULT);
    int64_t time = now() - start;
    close_loop(&loop);
    free(polls);
    return time;
}
