#ifndef CUV_EPOLL_H
#define CUV_EPOLL_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>

int cuv_epoll_create(void);

// As libuv has its sets: what an event carries is the descriptor.

int cuv_epoll_add(int epoll, int descriptor, uint32_t events);
int cuv_epoll_modify(int epoll, int descriptor, uint32_t events);
int cuv_epoll_delete(int epoll, int descriptor);

struct cuv_ready {
    int descriptor;
    uint32_t events;
};

// Finds which descriptors of libuv's epoll set are ready, without waiting; returns how many.
static inline int cuv_epoll_ready(int epoll, struct cuv_ready *_Nonnull found, int capacity) {
    struct epoll_event events[1024];
    int limit = capacity < 1024 ? capacity : 1024;
    int count = epoll_wait(epoll, events, limit, 0);
    for (int index = 0; index < count; index++) {
        found[index].descriptor = events[index].data.fd;
        found[index].events = events[index].events;
    }
    return count >= 0 ? count : -errno;
}

// As the ports have theirs: an event carries a tag.

enum {
    cuv_epoll_operation_add = EPOLL_CTL_ADD,
    cuv_epoll_operation_modify = EPOLL_CTL_MOD,
    cuv_epoll_operation_delete = EPOLL_CTL_DEL,
};

int cuv_epoll_tag(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag);

struct cuv_tagged_events {
    uint64_t tag;
    uint32_t events;
};

// Finds which descriptors are ready, without waiting; returns how many.
int cuv_epoll_look(int epoll, struct cuv_tagged_events *_Nonnull found, int capacity);

// As signals are told to several loops: by edges.

// Has an epoll set tell of every write to an eventfd once, whoever else reads it.
int cuv_epoll_add_edges(int epoll, int descriptor);

// Takes what an epoll set has to tell.
void cuv_epoll_acknowledge(int epoll);

// Whether a set holds a number, whatever file the number stood for when it was added; 0 where the kernel does not tell.
int cuv_epoll_holds(int epoll, int descriptor);

#endif
