// Questions about one descriptor of any kind, and the flags of its open file.

#include "cuv_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int cuv_condition(int descriptor) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLOUT | EPOLLRDHUP};
    return poll(&state, 1, 0) >= 0 ? state.revents : -errno;
}

int cuv_unread_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -errno;
}

int cuv_file_flags(int descriptor) {
    int flags;
    do { flags = fcntl(descriptor, F_GETFL); } while (flags < 0 && errno == EINTR);
    return flags >= 0 ? flags : -errno;
}

int cuv_set_file_flags(int descriptor, int flags) {
    int status;
    do { status = fcntl(descriptor, F_SETFL, flags); } while (status < 0 && errno == EINTR);
    return status >= 0 ? 0 : -errno;
}

int cuv_is_same_file(int one, int other) {
    const int compare_files = 0; // KCMP_FILE
    pid_t process = getpid();
    return syscall(SYS_kcmp, process, process, compare_files, (long)one, (long)other) <= 0;
}
