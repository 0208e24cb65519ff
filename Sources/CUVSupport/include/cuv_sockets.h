#ifndef CUV_SOCKETS_H
#define CUV_SOCKETS_H

#include <sys/types.h>

// Takes a connection from a listener; what it returns does not block.
int cuv_accept(int listener);

// Who made the other end of a Unix-domain connection, or listens there: struct ucred.
struct cuv_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};

int cuv_peer_credentials(int socket, struct cuv_credentials *_Nonnull credentials);

// Two connected sockets that do not block.
int cuv_socket_pair(int ends[_Nonnull 2]);

#endif
