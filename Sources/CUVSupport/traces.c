// What a recorder needs of the system: its file, and when the process ends.

#include "cuv_traces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

int cuv_open_locked(const char *_Nonnull path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return -errno;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && (ftruncate(descriptor, 0) == 0 || errno == EINVAL)) {
        return descriptor;
    }
    int error = -errno;
    close(descriptor);
    return error;
}

int cuv_write_all(int descriptor, const void *_Nonnull bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(descriptor, rest, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -errno;
        rest += written;
        count -= (size_t)written;
    }
    return 0;
}

const char *_Nullable cuv_environment(const char *_Nonnull name) { return getenv(name); }

int cuv_at_exit(void (*_Nonnull function)(void)) { return atexit(function); }

void cuv_thread_name(char *_Nonnull name) {
    name[0] = 0;
    prctl(PR_GET_NAME, name, 0, 0, 0);
}
