#ifndef CUV_DESCRIPTORS_H
#define CUV_DESCRIPTORS_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include "cuv_linkage.h"

CUV_BEGIN

// The bits of poll(2)'s and epoll's masks, which are the same.
enum {
    cuv_poll_in = POLLIN,
    cuv_poll_out = POLLOUT,
    cuv_poll_error = POLLERR,
    cuv_poll_hang_up = POLLHUP,
    cuv_poll_invalid = POLLNVAL,
    cuv_poll_peer_hang_up = EPOLLRDHUP,
};

// Returns the current condition of a descriptor, as poll(2)'s revents, or a negated errno.
int cuv_condition(int descriptor);

// Whether 0, 1 and 2 are open. One call of poll(2), which is less than three of fcntl(2); it does not
// count descriptors that were opened with O_PATH.
int cuv_standard_descriptors_are_open(void);

int cuv_unread_bytes(int descriptor);

// How much memory holds what was sent on a Unix socket and the peer has not read. It is freed in
// pieces: of a large one, a peer may have read up to 36 KiB without a change of this number.
int cuv_untaken_bytes(int descriptor);

// Closes a descriptor. Linux frees the number whatever close(2) returns, so it is never repeated.
void cuv_close(int descriptor);

// Duplicates a descriptor with FD_CLOEXEC; the new number is at least `least`.
int cuv_duplicate(int descriptor, int least);

// Returns the flags of a descriptor's open file, O_NONBLOCK among them.
int cuv_file_flags(int descriptor);

int cuv_set_file_flags(int descriptor, int flags);

// Whether a hang-up of the descriptor may come without EPOLLRDHUP while it is writable: that of a
// connected socket does not, and a pipe without readers has an error instead.
int cuv_may_hide_hang_up(int descriptor);

// Whether two descriptors of this process share an open file.
//
// By kcmp(2), which containers may refuse, or else by cuv_share_flags.
int cuv_is_same_file(int one, int other);

// The same, for descriptors that epoll accepts: whether a flag that is changed for one is changed
// for the other.
//
// The flag is O_APPEND, for a moment: it has no effect on files without positions.
int cuv_share_flags(int one, int other);

// Returns an error as epoll_ctl would for a descriptor that is closed, or of a file or a directory.
// It knows of no other kind that cannot be watched.
int cuv_check_kind(int descriptor);

// The properties of an open file.
struct cuv_file {
    dev_t device;
    ino_t inode;
    int is_directory;
    // Whether there is nothing left to read: the position is at or beyond the end, or the file is
    // the null device.
    int is_at_end;
};

int cuv_file_of(int descriptor, struct cuv_file *_Nonnull file);

CUV_END

#endif
