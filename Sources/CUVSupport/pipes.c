// Pipes to and from child processes.

// For pipe2(2).
#define _GNU_SOURCE

#include "cuv_pipes.h"

#include "cuv_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int cuv_pipe_open(int ends[_Nonnull 2], int writes) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    int own = ends[writes ? 1 : 0];
    int status = cuv_set_file_flags(own, O_NONBLOCK);
    if (status == 0) return 0;
    close(ends[0]);
    close(ends[1]);
    return status;
}

ssize_t cuv_read(int descriptor, void *_Nonnull bytes, size_t count) {
    ssize_t length;
    do { length = read(descriptor, bytes, count); } while (length < 0 && errno == EINTR);
    return length >= 0 ? length : -errno;
}

ssize_t cuv_read_now(int descriptor, void *_Nonnull bytes, size_t count) {
    const int no_wait = 8; // RWF_NOWAIT
    struct iovec place = {.iov_base = bytes, .iov_len = count};
    // At the current position, for which -1 stands.
    ssize_t length;
    do {
        length = syscall(SYS_preadv2, descriptor, &place, 1, -1L, -1L, no_wait);
    } while (length < 0 && errno == EINTR);
    if (length >= 0) return length;
    int is_unknown = errno == EOPNOTSUPP || errno == ENOSYS;
    return is_unknown ? cuv_read(descriptor, bytes, count) : -errno;
}

// Discards a blocked signal of the calling thread, unless it was pending before.
static void discard_new(sigset_t signals, const sigset_t *_Nonnull pending) {
    if (sigismember(pending, SIGPIPE)) sigdelset(&signals, SIGPIPE);
    if (sigismember(pending, SIGXFSZ)) sigdelset(&signals, SIGXFSZ);
    struct timespec no_time = {0, 0};
    while (sigtimedwait(&signals, NULL, &no_time) < 0 && errno == EINTR) {}
}

ssize_t cuv_write(int descriptor, const void *_Nonnull bytes, size_t count) {
    sigset_t of_writing, previous, pending;
    sigemptyset(&of_writing);
    sigaddset(&of_writing, SIGPIPE);
    sigaddset(&of_writing, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &of_writing, &previous);
    ssize_t length;
    do { length = write(descriptor, bytes, count); } while (length < 0 && errno == EINTR);
    ssize_t result = length >= 0 ? length : -errno;
    // Also for a write of which a part was made before its reader left.
    if (result == -EPIPE || result == -EFBIG || (result >= 0 && (size_t)result < count)) {
        discard_new(of_writing, &pending);
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return result;
}
