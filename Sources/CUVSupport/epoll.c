// Epoll sets. Swift cannot import struct epoll_event, which is packed and contains a union.

#include "cuv_epoll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int cuv_epoll_create(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll >= 0 ? epoll : -errno;
}

static int control_with(int epoll, int operation, int descriptor, struct epoll_event event) {
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

static int control(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return control_with(epoll, operation, descriptor, event);
}

int cuv_epoll_add(int epoll, int descriptor, uint32_t events) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events);
}

int cuv_epoll_modify(int epoll, int descriptor, uint32_t events) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events);
}

int cuv_epoll_delete(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0); }

int cuv_epoll_many_ready(int epoll, struct cuv_ready *_Nonnull found) {
    struct epoll_event events[cuv_many_ready];
    return cuv_epoll_ready_in(epoll, events, cuv_many_ready, found);
}

int cuv_epoll_tag(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return control_with(epoll, operation, descriptor, event);
}

int cuv_epoll_peek(int epoll, struct cuv_tagged_events *_Nonnull found, int capacity) {
    struct epoll_event events[64];
    int limit = capacity < 64 ? capacity : 64;
    int count = epoll_wait(epoll, events, limit, 0);
    for (int index = 0; index < count; index++) {
        found[index].tag = events[index].data.u64;
        found[index].events = events[index].events;
    }
    return count >= 0 ? count : -errno;
}

int cuv_epoll_add_edges(int epoll, int descriptor) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, EPOLLIN | EPOLLET);
}

int cuv_epoll_acknowledge(int epoll, int descriptor) {
    struct epoll_event events[4];
    int count = epoll_wait(epoll, events, 4, 0);
    for (int index = 0; index < count; index++) {
        if (events[index].data.fd == descriptor) return 1;
    }
    return 0;
}

int cuv_epoll_members(int epoll, int descriptor) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    char *line = NULL;
    size_t capacity = 0;
    int count = 0, member;
    // One line per member, which starts with its descriptor.
    while (getline(&line, &capacity, file) > 0) count += sscanf(line, "tfd: %d", &member) == 1 && member == descriptor;
    free(line);
    fclose(file);
    return count;
}
