#ifndef CUV_SOCKETS_H
#define CUV_SOCKETS_H

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// What the ports need of the system and the headers hide from Swift. What each function answers is said in shim.h.

static inline int cuv_accept(int listener) {
    long socket = syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return socket >= 0 ? (int)socket : -errno;
}

// Who made the other end of a Unix-domain connection, or listens there: struct ucred.
struct cuv_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};

static inline int cuv_peer_credentials(int socket, struct cuv_credentials *_Nonnull credentials) {
    socklen_t length = sizeof *credentials;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &length) == 0 ? 0 : -errno;
}

static inline int cuv_epoll_tag(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

struct cuv_tagged_events {
    uint64_t tag;
    uint32_t events;
};

// Looks, without waiting, which descriptors are ready; answers how many.
static inline int cuv_epoll_look(int epoll, struct cuv_tagged_events *_Nonnull found, int capacity) {
    struct epoll_event events[64];
    int limit = capacity < 64 ? capacity : 64;
    int count = epoll_wait(epoll, events, limit, 0);
    for (int index = 0; index < count; index++) {
        found[index].tag = events[index].data.u64;
        found[index].events = events[index].events;
    }
    return count >= 0 ? count : -errno;
}

enum {
    cuv_epoll_operation_add = EPOLL_CTL_ADD,
    cuv_epoll_operation_modify = EPOLL_CTL_MOD,
    cuv_epoll_operation_delete = EPOLL_CTL_DEL,
};

#endif
