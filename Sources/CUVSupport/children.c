// Child processes by pidfd: system calls that the C library may not declare.

#define _GNU_SOURCE
#include "cuv_children.h"
#include "forks.h"
#include "cuv_signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int cuv_child_open(pid_t process) {
    const long pidfd_open = 434; // SYS_pidfd_open, which the headers may not know
    long descriptor = syscall(pidfd_open, process, 0);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

static const idtype_t by_descriptor = (idtype_t)3; // P_PIDFD, which the headers may not know

int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end) {
    siginfo_t info = {.si_pid = 0};
    int options = WEXITED | WNOHANG | (only_asks ? WNOWAIT : 0);
    while (waitid(by_descriptor, (id_t)descriptor, &info, options) != 0)
        if (errno != EINTR) return -errno;
    if (info.si_pid == 0) return 0;
    end->code = info.si_code;
    end->status = info.si_status;
    return 1;
}

void cuv_child_await_end(int descriptor) {
    siginfo_t info;
    while (waitid(by_descriptor, (id_t)descriptor, &info, WEXITED) != 0 && errno == EINTR) {}
}

int cuv_child_signal(int descriptor, int signal) {
    const long pidfd_send_signal = 424; // SYS_pidfd_send_signal, which the headers may not know
    return syscall(pidfd_send_signal, descriptor, signal, NULL, 0) == 0 ? 0 : -errno;
}

// The disposition of SIGCHLD before a child is started; under the lock of that signal.
static struct sigaction previous_action;
// Whether the calling thread starts a child.
static __thread int is_starting;

// Marks every number that a descriptor may have where neither close_range nor /proc names them.
static void close_numbers_at_exec(void) {
    const int limit = 65536;
    for (int number = 3; number < limit; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
}

// Marks a child's descriptors, beyond the standard ones, to be closed by exec.
//
// It runs between fork and exec, where only system calls are safe.
static void close_others_at_exec(void) {
    const long close_range = 436; // SYS_close_range, which the headers may not know
    const unsigned only_marks = 1u << 2; // CLOSE_RANGE_CLOEXEC, since Linux 5.11
    if (syscall(close_range, 3u, ~0u, only_marks) == 0) return;
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return close_numbers_at_exec();
    _Alignas(struct dirent64) char entries[2048];
    long length;
    while ((length = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
        for (long offset = 0; offset < length;) {
            struct dirent64 *entry = (struct dirent64 *)(entries + offset);
            int number = 0;
            for (const char *digit = entry->d_name; *digit >= '0' && *digit <= '9'; digit++)
                number = 10 * number + (*digit - '0');
            if (number > 2) fcntl(number, F_SETFD, FD_CLOEXEC);
            offset += entry->d_reclen;
        }
    }
    close(directory);
}

// Real-time signals that are ignored stay so in a new program, and libuv resets only the others.
static void reset_real_time_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) sigaction(signal, &action, NULL);
}

// In every forked child.
//
// After the fork handlers of the program, which may open descriptors.
static void prepare_child(void) {
    if (is_starting) {
        close_others_at_exec();
        reset_real_time_signals();
    }
    is_starting = 0;
}

static void watch_forks(void) { cuv_at_fork_last(prepare_child); }

void cuv_child_starts(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    cuv_child_signal_lock();
    is_starting = 1;
    sigaction(SIGCHLD, NULL, &previous_action);
}

void cuv_child_started(void) {
    struct sigaction action = previous_action;
    sigaction(SIGCHLD, &action, NULL);
    is_starting = 0;
    cuv_child_signal_unlock();
    // A signal of another child may have been handled by libuv.
    int is_handled = (action.sa_flags & SA_SIGINFO) != 0
        || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (is_handled) kill(getpid(), SIGCHLD);
}
