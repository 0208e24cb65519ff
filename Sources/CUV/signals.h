#ifndef CUV_SIGNALS_H
#define CUV_SIGNALS_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// Signals and children. What each function answers is said in shim.h.

enum {
    cuv_signal_count = _NSIG,
};

// What the library knows of one signal. Signal handlers read it: all of it is set by atomic operations, but for the
// previous disposition, which is set while nobody can read it.
struct cuv_signal {
    // How often the signal came to this process.
    uint64_t count;
    // An eventfd, plus one; 0 when nobody waits for the signal.
    int descriptor;
    // How many threads are in the handler, and may write to the descriptor.
    int in_flight;
    // Whether the disposition is ours.
    int is_taken;
    struct sigaction previous;
};

struct cuv_signals {
    // The process that waits for signals.
    pid_t owner;
    struct cuv_signal of[cuv_signal_count];
};

// Every object file that calls this, or any of the functions below that call it, has one of its own: call them from one
// only.
static inline struct cuv_signals *_Nonnull cuv_signals(void) {
    static struct cuv_signals signals;
    return &signals;
}

static inline void cuv_signal_arrived(int signal);

// Gives the signal its previous disposition back, unless somebody has changed it since.
static inline void cuv_signal_put_back(int signal) {
    struct sigaction present;
    if (sigaction(signal, NULL, &present) != 0 || present.sa_handler != cuv_signal_arrived) return;
    sigaction(signal, &cuv_signals()->of[signal].previous, NULL);
}

static inline int cuv_event_create(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

// Makes an eventfd readable. Not write(2), at which a thread may be cancelled.
static inline int cuv_event_signal(int descriptor) {
    uint64_t one = 1;
    int saved = errno;
    long length;
    do { length = syscall(SYS_write, descriptor, &one, sizeof one); } while (length < 0 && errno == EINTR);
    // One that can take no more is readable.
    int status = length >= 0 || errno == EAGAIN ? 0 : -errno;
    errno = saved;
    return status;
}

// Counts arrivals of a signal, and tells those who wait for it. To be called from signal handlers too.
static inline void cuv_signal_note(int signal, uint64_t count) {
    struct cuv_signal *state = &cuv_signals()->of[signal];
    __atomic_add_fetch(&state->count, count, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&state->in_flight, 1, __ATOMIC_SEQ_CST);
    int descriptor = __atomic_load_n(&state->descriptor, __ATOMIC_SEQ_CST) - 1;
    if (descriptor >= 0) cuv_event_signal(descriptor);
    __atomic_sub_fetch(&state->in_flight, 1, __ATOMIC_SEQ_CST);
}

// The handler.
static inline void cuv_signal_arrived(int signal) {
    int error = errno;
    if (getpid() == __atomic_load_n(&cuv_signals()->owner, __ATOMIC_SEQ_CST)) {
        cuv_signal_note(signal, 1);
    } else {
        // A child process, right after its fork: the signal is to do what it did before the parent took it. It comes
        // again when this returns.
        cuv_signal_put_back(signal);
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    }
    errno = error;
}

static inline uint64_t cuv_signal_arrivals(int signal) {
    return __atomic_load_n(&cuv_signals()->of[signal].count, __ATOMIC_SEQ_CST);
}

// Has the arrivals of a signal told to an eventfd from now on, instead of its previous disposition.
static inline int cuv_signal_take(int signal, int descriptor) {
    struct cuv_signal *state = &cuv_signals()->of[signal];
    if (sigaction(signal, NULL, &state->previous) != 0) return -errno;
    __atomic_store_n(&cuv_signals()->owner, getpid(), __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, descriptor + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->is_taken, 1, __ATOMIC_SEQ_CST);

    struct sigaction action = {.sa_flags = SA_RESTART | SA_ONSTACK};
    // What becomes of dead children is a part of the disposition of SIGCHLD.
    action.sa_flags |= state->previous.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
    if (signal == SIGCHLD && state->previous.sa_handler == SIG_IGN) action.sa_flags |= SA_NOCLDWAIT;
    action.sa_handler = cuv_signal_arrived;
    // One at a time: the stack that a thread has for handlers may be small.
    sigfillset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) == 0) return 0;
    int error = -errno;
    __atomic_store_n(&state->is_taken, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
    return error;
}

// Undoes cuv_signal_take. When it returns, no handler writes to the descriptor any more.
static inline void cuv_signal_give_back(int signal) {
    struct cuv_signal *state = &cuv_signals()->of[signal];
    cuv_signal_put_back(signal);
    __atomic_store_n(&state->is_taken, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&state->in_flight, __ATOMIC_SEQ_CST) > 0) sched_yield();
}

// Gives a forked child the dispositions that its parent's sources had replaced.
static inline void cuv_signals_after_fork(void) {
    for (int signal = 1; signal < cuv_signal_count; signal++) {
        struct cuv_signal *state = &cuv_signals()->of[signal];
        if (__atomic_exchange_n(&state->is_taken, 0, __ATOMIC_SEQ_CST)) cuv_signal_put_back(signal);
        __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&state->in_flight, 0, __ATOMIC_SEQ_CST);
    }
}

static inline int cuv_signals_watch_forks(void) { return -pthread_atfork(NULL, NULL, cuv_signals_after_fork); }

// Has an epoll set tell of every write to an eventfd once, whoever else reads it.
static inline int cuv_epoll_add_edges(int epoll, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

// Takes note of what an epoll set has to tell.
static inline void cuv_epoll_acknowledge(int epoll) {
    struct epoll_event events[4];
    epoll_wait(epoll, events, 4, 0);
}

// A signalfd for one signal: readable while the signal waits because threads block it.
static inline int cuv_signal_open_pending(int number) {
    sigset_t set;
    sigemptyset(&set);
    if (sigaddset(&set, number) != 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

// Takes the signals that wait; answers how many.
static inline int cuv_signal_take_pending(int descriptor) {
    struct signalfd_siginfo found[16];
    ssize_t length = read(descriptor, found, sizeof found);
    return length > 0 ? (int)(length / (ssize_t)sizeof found[0]) : 0;
}

// The end of a child, as waitid(2) tells it.
struct cuv_end {
    int code;
    int status;
};

enum {
    cuv_end_exited = CLD_EXITED,
    cuv_end_killed = CLD_KILLED,
    cuv_end_dumped = CLD_DUMPED,
};

static inline int cuv_child_open(pid_t process) {
    const long pidfd_open = 434; // SYS_pidfd_open, which the headers may not know
    long descriptor = syscall(pidfd_open, process, 0);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

// Asks for the end of the child behind a pidfd, without waiting; answers 1 when there is one, and 0 when not.
//
// To ask only leaves the status with the child; otherwise the child is gone afterwards.
static inline int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end) {
    const idtype_t by_descriptor = (idtype_t)3; // P_PIDFD
    siginfo_t info = {.si_pid = 0};
    int options = WEXITED | WNOHANG | (only_asks ? WNOWAIT : 0);
    if (waitid(by_descriptor, (id_t)descriptor, &info, options) != 0) return -errno;
    if (info.si_pid == 0) return 0;
    end->code = info.si_code;
    end->status = info.si_status;
    return 1;
}

#endif
