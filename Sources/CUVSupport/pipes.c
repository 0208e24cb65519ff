// Pipes to and from child processes.

// For pipe2(2).
#define _GNU_SOURCE

#include "cuv_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int cuv_pipe_open(int ends[_Nonnull 2], int writes) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    int own = ends[writes ? 1 : 0];
    if (fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK) == 0) return 0;
    int status = -errno;
    close(ends[0]);
    close(ends[1]);
    return status;
}

ssize_t cuv_read(int descriptor, void *_Nonnull bytes, size_t count) {
    ssize_t length;
    do { length = read(descriptor, bytes, count); } while (length < 0 && errno == EINTR);
    return length >= 0 ? length : -errno;
}

ssize_t cuv_write(int descriptor, const void *_Nonnull bytes, size_t count) {
    sigset_t pipe, previous, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &previous);
    ssize_t length;
    do { length = write(descriptor, bytes, count); } while (length < 0 && errno == EINTR);
    ssize_t result = length >= 0 ? length : -errno;
    // The signal is sent to the writing thread. One that was pending before is not this one's.
    if (result == -EPIPE && !sigismember(&pending, SIGPIPE)) {
        struct timespec no_time = {0, 0};
        while (sigtimedwait(&pipe, NULL, &no_time) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return result;
}
