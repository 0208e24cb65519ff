// The functions that take the place of the C library's.

#define _GNU_SOURCE
#include "Calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Failing.h"
#include "Real.h"
#include "Shown.h"

#define CALLER __builtin_return_address(0)

/// Leaves the function with -1 if its call is to fail.
#define FAIL_IF_DUE(call)                                                                          \
    do {                                                                                           \
        int error = failing(fault_##call, CALLER);                                                 \
        if (error) {                                                                               \
            errno = error;                                                                         \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

/// Defines a function that fails, or else does what the C library's does.
#define FAILS(result, name, call, parameters, ...)                                                 \
    result name parameters {                                                                       \
        FAIL_IF_DUE(call);                                                                         \
        return REAL(name)(__VA_ARGS__);                                                            \
    }

/// The same for functions that return the error.
#define RETURNS_ERROR(name, call, parameters, ...)                                                 \
    int name parameters {                                                                          \
        int error = failing(fault_##call, CALLER);                                                 \
        return error ? error : REAL(name)(__VA_ARGS__);                                            \
    }

FAILS(int, epoll_create1, epoll_create1, (int flags), flags)

int epoll_ctl(int set, int what, int file, struct epoll_event *event) {
    int call = fault_epoll_ctl_mod;
    if (what == EPOLL_CTL_ADD) call = fault_epoll_ctl_add;
    if (what == EPOLL_CTL_DEL) call = fault_epoll_ctl_del;
    int error = failing((enum fault_call)call, CALLER);
    // With EEXIST the descriptor is in the set: the real call adds it, as other code would have.
    if (!error || error == EEXIST) error = REAL(epoll_ctl)(set, what, file, event) == 0 ? error : errno;
    if (!error) return 0;
    errno = error;
    return -1;
}

FAILS(int, epoll_wait, epoll_wait, (int set, struct epoll_event *events, int most, int limit), set, events, most, limit)
FAILS(int, epoll_pwait, epoll_pwait,
    (int set, struct epoll_event *events, int most, int limit, const sigset_t *mask), set, events, most, limit, mask)
FAILS(int, eventfd, eventfd, (unsigned count, int flags), count, flags)

enum { mostTimers = 1024 };
/// The clocks of the timerfds.
static _Atomic clockid_t clocks[mostTimers];

int timerfd_create(int clock, int flags) {
    FAIL_IF_DUE(timerfd_create);
    int timer = REAL(timerfd_create)(clock, flags);
    if (timer >= 0 && timer < mostTimers) clocks[timer] = clock;
    return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    FAIL_IF_DUE(timerfd_settime);
    struct itimerspec kernels = *new;
    clockid_t clock = timer >= 0 && timer < mostTimers ? clocks[timer] : CLOCK_MONOTONIC;
    if (flags & TFD_TIMER_ABSTIME) kernels.it_value = kernel_date(clock, kernels.it_value);
    return REAL(timerfd_settime)(timer, flags, &kernels, old);
}

FAILS(int, signalfd, signalfd, (int file, const sigset_t *mask, int flags), file, mask, flags)
FAILS(int, pipe2, pipe2, (int ends[2], int flags), ends, flags)

FAILS(int, socket, socket, (int family, int type, int protocol), family, type, protocol)
FAILS(int, socketpair, socketpair, (int family, int type, int protocol, int ends[2]), family, type, protocol, ends)
FAILS(int, bind, bind, (int socket, const struct sockaddr *address, socklen_t size), socket, address, size)
FAILS(int, listen, listen, (int socket, int backlog), socket, backlog)
FAILS(int, accept4, accept4, (int socket, struct sockaddr *address, socklen_t *size, int flags),
    socket, address, size, flags)
FAILS(int, shutdown, shutdown, (int socket, int how), socket, how)
FAILS(int, getsockopt, getsockopt, (int socket, int level, int option, void *value, socklen_t *size),
    socket, level, option, value, size)
FAILS(int, setsockopt, setsockopt, (int socket, int level, int option, const void *value, socklen_t size),
    socket, level, option, value, size)
FAILS(int, getsockname, getsockname, (int socket, struct sockaddr *address, socklen_t *size), socket, address, size)
FAILS(int, getpeername, getpeername, (int socket, struct sockaddr *address, socklen_t *size), socket, address, size)

int connect(int socket, const struct sockaddr *address, socklen_t size) {
    int error = failing(fault_connect, CALLER);
    // An interrupted one goes on.
    int result = error && error != EINTR ? -1 : REAL(connect)(socket, address, size);
    if (!error) return result;
    errno = error;
    return -1;
}

static bool isSocket(int file) {
    struct stat status;
    return REAL(fstat)(file, &status) == 0 && S_ISSOCK(status.st_mode);
}

ssize_t read(int file, void *bytes, size_t size) {
    int error = failing(isSocket(file) ? fault_read_of_socket : fault_read, CALLER);
    if (!error) return REAL(read)(file, bytes, size);
    errno = error;
    return -1;
}

FAILS(ssize_t, write, write, (int file, const void *bytes, size_t size), file, bytes, size)
FAILS(ssize_t, send, send, (int socket, const void *bytes, size_t size, int flags), socket, bytes, size, flags)
FAILS(ssize_t, sendmsg, sendmsg, (int socket, const struct msghdr *message, int flags), socket, message, flags)
FAILS(ssize_t, recv, recv, (int socket, void *bytes, size_t size, int flags), socket, bytes, size, flags)
FAILS(ssize_t, recvmsg, recvmsg, (int socket, struct msghdr *message, int flags), socket, message, flags)

FAILS(int, inotify_init1, inotify_init1, (int flags), flags)
FAILS(int, inotify_add_watch, inotify_add_watch, (int set, const char *path, uint32_t events), set, path, events)
FAILS(int, inotify_rm_watch, inotify_rm_watch, (int set, int watch), set, watch)
FAILS(pid_t, fork, fork, (void))
FAILS(pid_t, waitpid, waitpid, (pid_t process, int *status, int options), process, status, options)

int close(int file) {
    int error = failing(fault_close, CALLER);
    // Linux closes the descriptor whatever it says.
    int result = REAL(close)(file);
    if (!error) return result;
    errno = error;
    return -1;
}

FAILS(int, dup, dup, (int file), file)
FAILS(int, dup3, dup3, (int old, int new, int flags), old, new, flags)
FAILS(int, fstat, fstat, (int file, struct stat *status), file, status)
FAILS(int, fstat64, fstat, (int file, struct stat64 *status), file, status)
FAILS(int, stat, stat, (const char *path, struct stat *status), path, status)
FAILS(int, lstat, lstat, (const char *path, struct stat *status), path, status)
FAILS(int, mkdir, mkdir, (const char *path, mode_t mode), path, mode)
FAILS(int, unlink, unlink, (const char *path), path)
FAILS(int, rename, rename, (const char *old, const char *new), old, new)
FAILS(int, flock, flock, (int file, int how), file, how)
FAILS(int, poll, poll, (struct pollfd *files, nfds_t count, int limit), files, count, limit)
FAILS(int, waitid, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), kind, id, info, options)
FAILS(int, sigaction, sigaction, (int number, const struct sigaction *new, struct sigaction *old), number, new, old)
FAILS(int, sem_wait, sem_wait, (sem_t *semaphore), semaphore)
FAILS(ssize_t, getrandom, getrandom, (void *bytes, size_t size, unsigned flags), bytes, size, flags)

RETURNS_ERROR(pthread_create, pthread_create,
    (pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument),
    thread, attributes, body, argument)
RETURNS_ERROR(pthread_sigmask, pthread_sigmask, (int how, const sigset_t *new, sigset_t *old), how, new, old)
RETURNS_ERROR(pthread_key_create, pthread_key_create, (pthread_key_t *key, void (*end)(void *)), key, end)
RETURNS_ERROR(pthread_setspecific, pthread_setspecific, (pthread_key_t key, const void *value), key, value)

// MARK: Memory

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

#define NO_MEMORY_IF_DUE(call)                                                                     \
    do {                                                                                           \
        int error = failing(fault_##call, CALLER);                                                 \
        if (error) {                                                                               \
            errno = error;                                                                         \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

void *malloc(size_t size) {
    NO_MEMORY_IF_DUE(malloc);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    NO_MEMORY_IF_DUE(calloc);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    NO_MEMORY_IF_DUE(realloc);
    return __libc_realloc(memory, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    int error = failing(fault_mmap, CALLER);
    if (!error) return REAL(mmap)(address, size, protection, flags, file, offset);
    errno = error;
    return MAP_FAILED;
}

// MARK: Functions of as many arguments as it takes

/// The arguments behind `last`: more than there are do no harm.
#define ARGUMENTS(last)                                                                            \
    va_list list;                                                                                  \
    va_start(list, last);                                                                          \
    long one = va_arg(list, long), two = va_arg(list, long), three = va_arg(list, long);           \
    long four = va_arg(list, long), five = va_arg(list, long), six = va_arg(list, long);           \
    (void)one, (void)two, (void)three, (void)four, (void)five, (void)six;                          \
    va_end(list)

int fcntl(int file, int command, ...) {
    FAIL_IF_DUE(fcntl);
    ARGUMENTS(command);
    return REAL(fcntl)(file, command, one);
}

int fcntl64(int file, int command, ...) {
    FAIL_IF_DUE(fcntl);
    ARGUMENTS(command);
    return REAL(fcntl64)(file, command, one);
}

int ioctl(int file, unsigned long command, ...) {
    FAIL_IF_DUE(ioctl);
    ARGUMENTS(command);
    return REAL(ioctl)(file, command, one);
}

int prctl(int option, ...) {
    FAIL_IF_DUE(prctl);
    ARGUMENTS(option);
    return REAL(prctl)(option, one, two, three, four);
}

int open(const char *path, int flags, ...) {
    FAIL_IF_DUE(open);
    ARGUMENTS(flags);
    return REAL(open)(path, flags, one);
}

int open64(const char *path, int flags, ...) {
    FAIL_IF_DUE(open);
    ARGUMENTS(flags);
    return REAL(open64)(path, flags, one);
}

/// The functions for which there may be no wrapper.
static int callOfNumber(long number) {
    switch (number) {
    case SYS_accept4: return fault_accept4;
    case SYS_close: return fault_close;
    case SYS_kcmp: return fault_kcmp;
    case SYS_tgkill: return fault_tgkill;
    case SYS_write: return fault_write;
    case SYS_recvmmsg: return fault_recvmmsg;
    case SYS_sendmmsg: return fault_sendmmsg;
    case 424: return fault_pidfd_send_signal;
    case 434: return fault_pidfd_open;
    default: return -1;
    }
}

long syscall(long number, ...) {
    ARGUMENTS(number);
    int call = callOfNumber(number);
    int error = call < 0 ? 0 : failing((enum fault_call)call, CALLER);
    long result = -1;
    if (!error || number == SYS_close) result = REAL(syscall)(number, one, two, three, four, five, six);
    if (!error) return result;
    errno = error;
    return -1;
}
