// Changes to libuv's loops and handles that libuv has no functions for. All uses of its private
// fields are in this file and its header.

#include "cuv_loops.h"

#include "cuv_epoll.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <unistd.h>

int cuv_loop_init(uv_loop_t *_Nonnull loop) {
    int status = uv_loop_init(loop);
    // Negative if libuv has closed it; 0 if it failed before it opened anything.
    if (status < 0 && loop->backend_fd > 0) close(loop->backend_fd);
    return status;
}

static void take_from_list(uv__io_t *watcher) {
    // Two pointers, to the next and the previous watcher; the name differs between versions of
    // libuv.
    void **node = (void **)&watcher->watcher_queue;
    void **next = (void **)node[0];
    void **previous = (void **)node[1];
    previous[0] = next;
    next[1] = previous;
    node[0] = node;
    node[1] = node;
}

void cuv_poll_settle(uv_poll_t *_Nonnull poll) {
    uv__io_t *watcher = &poll->io_watcher;
    take_from_list(watcher);
    watcher->events = watcher->pevents;
}

static uv__io_t *first_watcher(uv_loop_t *_Nonnull loop) {
    void **queue = (void **)&loop->watcher_queue;
    if (queue[0] == queue) return NULL;
    return (uv__io_t *)((char *)queue[0] - offsetof(uv__io_t, watcher_queue));
}

// Adds the descriptor of a watcher to the epoll set.
static int add(uv_loop_t *_Nonnull loop, uv__io_t *watcher) {
    int epoll = uv_backend_fd(loop);
    // A watcher that was stopped and started again may still be in the set.
    int status = cuv_epoll_add(epoll, watcher->fd, watcher->pevents);
    if (status == -EEXIST) status = cuv_epoll_modify(epoll, watcher->fd, watcher->pevents);
    if (status == 0) watcher->events = watcher->pevents;
    return status;
}

int cuv_loop_register(uv_loop_t *_Nonnull loop) {
    uv__io_t *watcher;
    int result = 0;
    while ((watcher = first_watcher(loop)) != NULL) {
        int status = add(loop, watcher);
        take_from_list(watcher);
        if (status < 0) result = status;
    }
    return result;
}

int cuv_loop_register_inotify(uv_loop_t *_Nonnull loop) {
    int status = cuv_loop_register(loop);
    uv__io_t *watcher = &loop->inotify_read_watcher;
    // One that was refused for an earlier handle is in no list any more.
    return status == 0 && watcher->events == 0 ? add(loop, watcher) : status;
}

int cuv_loop_eventfd(const uv_loop_t *_Nonnull loop) {
    return loop->async_wfd == -1 ? loop->async_io_watcher.fd : -1;
}

int cuv_has_ready_descriptor(const uv_loop_t *_Nonnull loop) {
    struct pollfd state = {.fd = uv_backend_fd(loop), .events = POLLIN};
    return poll(&state, 1, 0) > 0;
}

void cuv_await_work(const uv_loop_t *_Nonnull loop, int milliseconds) {
    struct pollfd state = {.fd = uv_backend_fd(loop), .events = POLLIN};
    poll(&state, 1, milliseconds);
}
