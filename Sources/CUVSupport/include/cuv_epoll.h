#ifndef CUV_EPOLL_H
#define CUV_EPOLL_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "cuv_linkage.h"

CUV_BEGIN

int cuv_epoll_create(void);

// For libuv's sets: the data of an event is its descriptor.

int cuv_epoll_add(int epoll, int descriptor, uint32_t events);
int cuv_epoll_modify(int epoll, int descriptor, uint32_t events);
int cuv_epoll_delete(int epoll, int descriptor);

enum { cuv_few_ready = 64, cuv_many_ready = 1024 };

struct cuv_ready {
    int descriptor;
    uint32_t events;
};

// Polls libuv's epoll set without waiting, into memory of the caller's for so many events; returns the
// number of ready descriptors.
static inline int cuv_epoll_ready_in(
    int epoll, struct epoll_event *_Nonnull events, int limit, struct cuv_ready *_Nonnull found) {
    int count = epoll_wait(epoll, events, limit, 0);
    for (int index = 0; index < count; index++) {
        found[index].descriptor = events[index].data.fd;
        found[index].events = events[index].events;
    }
    return count >= 0 ? count : -errno;
}

// The same for cuv_few_ready descriptors at most.
static inline int cuv_epoll_ready(int epoll, struct cuv_ready *_Nonnull found) {
    struct epoll_event events[cuv_few_ready];
    return cuv_epoll_ready_in(epoll, events, cuv_few_ready, found);
}

// The same for cuv_many_ready descriptors, which takes 12 KiB of the stack.
int cuv_epoll_many_ready(int epoll, struct cuv_ready *_Nonnull found);

// For the ports' sets: the data of an event is a tag.

enum {
    cuv_epoll_operation_add = EPOLL_CTL_ADD,
    cuv_epoll_operation_modify = EPOLL_CTL_MOD,
};

int cuv_epoll_tag(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag);

struct cuv_tagged_events {
    uint64_t tag;
    uint32_t events;
};

// Polls without waiting; returns the number of ready descriptors.
int cuv_epoll_peek(int epoll, struct cuv_tagged_events *_Nonnull found, int capacity);

// For signals, which several loops receive: edge-triggered.

// Adds an eventfd so that the set reports every write to it once, even if it is read elsewhere.
int cuv_epoll_add_edges(int epoll, int descriptor);

// Consumes the pending events of an epoll set; returns whether a descriptor was among them.
int cuv_epoll_acknowledge(int epoll, int descriptor);

// How many members of a set have a number, whatever files it referred to when they were added; 0 if
// the kernel does not tell.
int cuv_epoll_members(int epoll, int descriptor);

CUV_END

#endif
