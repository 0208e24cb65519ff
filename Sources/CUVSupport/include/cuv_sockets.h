#ifndef CUV_SOCKETS_H
#define CUV_SOCKETS_H

#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// Accepts a connection on a listener, as a non-blocking socket.
int cuv_accept(int listener);

// The creator of the other end of a Unix-domain connection, or its listener: struct ucred.
struct cuv_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};

int cuv_peer_credentials(int socket, struct cuv_credentials *_Nonnull credentials);

// Creates two connected, non-blocking sockets.
int cuv_socket_pair(int ends[_Nonnull 2]);

CUV_END

#endif
