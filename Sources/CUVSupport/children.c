// Child processes by pidfd: system calls that the C library may not declare.

#include "cuv_children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int cuv_child_open(pid_t process) {
    const long pidfd_open = 434; // SYS_pidfd_open, which the headers may not know
    long descriptor = syscall(pidfd_open, process, 0);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end) {
    const idtype_t by_descriptor = (idtype_t)3; // P_PIDFD
    siginfo_t info = {.si_pid = 0};
    int options = WEXITED | WNOHANG | (only_asks ? WNOWAIT : 0);
    if (waitid(by_descriptor, (id_t)descriptor, &info, options) != 0) return -errno;
    if (info.si_pid == 0) return 0;
    end->code = info.si_code;
    end->status = info.si_status;
    return 1;
}

int cuv_child_signal(int descriptor, int signal) {
    const long pidfd_send_signal = 424; // SYS_pidfd_send_signal, which the headers may not know
    return syscall(pidfd_send_signal, descriptor, signal, NULL, 0) == 0 ? 0 : -errno;
}

// The state of the start that is in progress, under the lock.
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static int *hidden;
static size_t hidden_count;
static struct sigaction previous_action;

// In a forked child, whose parent's other threads do not exist.
static void forget_start(void) {
    pthread_mutex_init(&starting, NULL);
    hidden = NULL;
    hidden_count = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_start); }

static int set_closes(int descriptor, int closes) {
    int flags = fcntl(descriptor, F_GETFD);
    if (flags < 0 || !(flags & FD_CLOEXEC) == !closes) return 0;
    return fcntl(descriptor, F_SETFD, flags ^ FD_CLOEXEC) == 0;
}

static int hide(int descriptor) {
    if (!set_closes(descriptor, 1)) return 0;
    if ((hidden_count & (hidden_count - 1)) == 0) {
        size_t size = hidden_count == 0 ? 1 : 2 * hidden_count;
        int *more = realloc(hidden, size * sizeof *hidden);
        if (more == NULL) {
            set_closes(descriptor, 0);
            return -ENOMEM;
        }
        hidden = more;
    }
    hidden[hidden_count++] = descriptor;
    return 0;
}

// Without a descriptor for the directory, or without /proc, tries every number.
static int hide_all(void) {
    int status = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) {
        long limit = sysconf(_SC_OPEN_MAX);
        if (limit < 0 || limit > 65536) limit = 65536;
        for (int number = 3; number < limit && status == 0; number++) status = hide(number);
        return status;
    }
    struct dirent *entry;
    while (status == 0 && (entry = readdir(directory)) != NULL) {
        int number = atoi(entry->d_name);
        if (number > 2) status = hide(number);
    }
    closedir(directory);
    return status;
}

static void show_all(void) {
    for (size_t index = 0; index < hidden_count; index++) set_closes(hidden[index], 0);
    free(hidden);
    hidden = NULL;
    hidden_count = 0;
}

int cuv_child_starts(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&starting);
    int status = hide_all();
    if (status == 0) {
        sigaction(SIGCHLD, NULL, &previous_action);
        return 0;
    }
    show_all();
    pthread_mutex_unlock(&starting);
    return status;
}

void cuv_child_started(void) {
    struct sigaction action = previous_action;
    sigaction(SIGCHLD, &action, NULL);
    show_all();
    pthread_mutex_unlock(&starting);
    // A signal of another child may have been handled by libuv.
    int is_handled = (action.sa_flags & SA_SIGINFO) != 0
        || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (is_handled) kill(getpid(), SIGCHLD);
}
