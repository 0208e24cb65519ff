// Socket functions for the ports that the headers hide from Swift.

#include "cuv_sockets.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int cuv_accept(int listener) {
    long socket = syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return socket >= 0 ? (int)socket : -errno;
}

int cuv_peer_credentials(int socket, struct cuv_credentials *_Nonnull credentials) {
    socklen_t length = sizeof *credentials;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &length) == 0 ? 0 : -errno;
}

int cuv_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 ? 0 : -errno;
}
