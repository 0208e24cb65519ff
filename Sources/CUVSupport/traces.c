// The file of a recorder.

#include "cuv_traces.h"

#include "cuv_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int cuv_open_locked(const char *_Nonnull path) {
    // Opening a named pipe would otherwise wait for a reader. Writes wait, on the recorder's thread.
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    // Of a file with a lease, which another process is asked to give up.
    if (descriptor < 0) return errno == EWOULDBLOCK ? -EBUSY : -errno;
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && (ftruncate(descriptor, 0) == 0 || errno == EINVAL)) {
        return descriptor;
    }
    int error = -errno;
    close(descriptor);
    return error;
}

int cuv_unlock(int descriptor) { return flock(descriptor, LOCK_UN) == 0 ? 0 : -errno; }

int cuv_append(int descriptor, const void *_Nonnull bytes, size_t count) {
    off_t start = lseek(descriptor, 0, SEEK_CUR);
    int status = cuv_write_all(descriptor, bytes, count);
    if (status < 0 && start >= 0 && ftruncate(descriptor, start) == 0) lseek(descriptor, start, SEEK_SET);
    return status;
}

int cuv_write_all(int descriptor, const void *_Nonnull bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = cuv_write(descriptor, rest, count);
        if (written < 0) return (int)written;
        rest += written;
        count -= (size_t)written;
    }
    return 0;
}
