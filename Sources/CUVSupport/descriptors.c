// The condition of one descriptor of any kind, and the flags of its open file.

#include "cuv_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int cuv_condition(int descriptor) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLOUT | EPOLLRDHUP};
    int count;
    // Even a poll that does not wait may be interrupted.
    do { count = poll(&state, 1, 0); } while (count < 0 && errno == EINTR);
    return count >= 0 ? state.revents : -errno;
}

int cuv_standard_descriptors_are_open(void) {
    struct pollfd states[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
    if (poll(states, 3, 0) < 0) return 0;
    return !((states[0].revents | states[1].revents | states[2].revents) & POLLNVAL);
}

int cuv_unread_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -errno;
}

int cuv_untaken_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -errno;
}

void cuv_close(int descriptor) { close(descriptor); }

int cuv_duplicate(int descriptor, int least) {
    int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, least);
    return duplicate >= 0 ? duplicate : -errno;
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

// Whether a socket that needs a connection has none.
static int lacks_connection(int descriptor) {
    int type;
    socklen_t size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return 0;
    if (type != SOCK_STREAM && type != SOCK_SEQPACKET) return 0;
    struct sockaddr_storage peer;
    size = sizeof peer;
    return getpeername(descriptor, (struct sockaddr *)&peer, &size) != 0 && errno == ENOTCONN;
}

int cuv_may_hide_hang_up(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return 1;
    if (S_ISSOCK(status.st_mode)) return lacks_connection(descriptor);
    return !S_ISFIFO(status.st_mode);
}

int cuv_is_same_file(int one, int other) {
    const int compare_files = 0; // KCMP_FILE
    pid_t process = getpid();
    long order = syscall(SYS_kcmp, process, process, compare_files, (long)one, (long)other);
    return order >= 0 ? order == 0 : cuv_share_flags(one, other);
}

int cuv_share_flags(int one, int other) {
    int flags = cuv_file_flags(one);
    int before = cuv_file_flags(other);
    if (flags < 0 || before < 0 || cuv_set_file_flags(one, flags ^ O_APPEND) < 0) return 0;
    int after = cuv_file_flags(other);
    cuv_set_file_flags(one, flags);
    return after >= 0 && ((before ^ after) & O_APPEND);
}

// The null device has these numbers on every Linux.
static int is_null_device(const struct stat *status) {
    return S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3);
}

static int is_at_end(int descriptor, const struct stat *status) {
    if (S_ISREG(status->st_mode)) return lseek(descriptor, 0, SEEK_CUR) >= status->st_size;
    return is_null_device(status);
}

int cuv_check_kind(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -errno;
    mode_t kind = status.st_mode;
    return S_ISREG(kind) || S_ISDIR(kind) || is_null_device(&status) ? -EPERM : 0;
}

int cuv_file_of(int descriptor, struct cuv_file *file) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -errno;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->is_directory = S_ISDIR(status.st_mode);
    file->is_at_end = is_at_end(descriptor, &status);
    return 0;
}
