// Owns the process's table of signals, and the handler that writes to it.

#include "cuv_signals.h"
#include "forks.h"
#include "cuv_events.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// The state of one signal. The handler reads it, so all fields are accessed by atomic operations,
// except the previous disposition, which is set while no thread can read it.
struct signal_state {
    uint64_t count;
    // The place of the latest arrival among those of all signals.
    uint64_t latest;
    // An eventfd, plus one; 0 if the signal has no sources.
    int descriptor;
    // The number of threads that are recording an arrival, and may write to the descriptor.
    int in_flight;
    // Whether the disposition is the library's.
    int is_taken;
    struct sigaction previous;
};

static struct {
    // The process that has sources.
    pid_t owner;
    // The number of arrivals of all signals.
    uint64_t arrivals;
    struct signal_state of[cuv_signal_count];
} signals;

static void signal_arrived(int signal);

// Who starts a child has libuv handle SIGCHLD meanwhile, and restores it afterwards.
static pthread_mutex_t child_signal = PTHREAD_MUTEX_INITIALIZER;

void cuv_child_signal_lock(void) { pthread_mutex_lock(&child_signal); }

void cuv_child_signal_unlock(void) { pthread_mutex_unlock(&child_signal); }

void cuv_signal_lock(int signal) {
    if (signal == SIGCHLD) cuv_child_signal_lock();
}

void cuv_signal_unlock(int signal) {
    if (signal == SIGCHLD) cuv_child_signal_unlock();
}

// The disposition of SIGCHLD is read and changed under its lock, except in a forked child.
static int is_taken(int signal) {
    struct sigaction present;
    return sigaction(signal, NULL, &present) == 0 && present.sa_handler == signal_arrived;
}

int cuv_signal_is_taken(int signal) {
    cuv_signal_lock(signal);
    int is_ours = is_taken(signal);
    cuv_signal_unlock(signal);
    return is_ours;
}

// Restores the previous disposition of a signal, unless it was changed by other code.
static void put_back(int signal) {
    if (is_taken(signal)) sigaction(signal, &signals.of[signal].previous, NULL);
}

void cuv_signal_record(int signal, uint64_t count) {
    struct signal_state *state = &signals.of[signal];
    // First: the thread that gives the signal back waits for arrivals that are in flight.
    __atomic_add_fetch(&state->in_flight, 1, __ATOMIC_SEQ_CST);
    uint64_t latest = __atomic_add_fetch(&signals.arrivals, count, __ATOMIC_SEQ_CST);
    // Two threads may be here at once, and the earlier one may be the last to store.
    uint64_t former = __atomic_load_n(&state->latest, __ATOMIC_SEQ_CST);
    while (former < latest && !__atomic_compare_exchange_n(&state->latest, &former, latest, 0, __ATOMIC_SEQ_CST,
                                                           __ATOMIC_SEQ_CST)) {}
    __atomic_add_fetch(&state->count, count, __ATOMIC_SEQ_CST);
    int descriptor = __atomic_load_n(&state->descriptor, __ATOMIC_SEQ_CST) - 1;
    if (descriptor >= 0) cuv_event_signal(descriptor);
    __atomic_sub_fetch(&state->in_flight, 1, __ATOMIC_SEQ_CST);
}

// The signal handler.
static void signal_arrived(int signal) {
    int error = errno;
    if (getpid() == __atomic_load_n(&signals.owner, __ATOMIC_SEQ_CST)) {
        cuv_signal_record(signal, 1);
    } else {
        // A child process, right after its fork: the signal must do what it did before the parent's
        // sources. It is delivered again when this returns.
        put_back(signal);
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    }
    errno = error;
}

uint64_t cuv_signal_latest(int signal) { return __atomic_load_n(&signals.of[signal].latest, __ATOMIC_SEQ_CST); }

uint64_t cuv_signal_arrivals(int signal) { return __atomic_load_n(&signals.of[signal].count, __ATOMIC_SEQ_CST); }

int cuv_signal_take(int signal, int descriptor) {
    struct signal_state *state = &signals.of[signal];
    if (sigaction(signal, NULL, &state->previous) != 0) return -errno;
    __atomic_store_n(&signals.owner, getpid(), __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, descriptor + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->is_taken, 1, __ATOMIC_SEQ_CST);

    struct sigaction action = {.sa_flags = SA_RESTART | SA_ONSTACK};
    // How the system treats dead children is part of the disposition of SIGCHLD.
    action.sa_flags |= state->previous.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
    if (signal == SIGCHLD && state->previous.sa_handler == SIG_IGN) action.sa_flags |= SA_NOCLDWAIT;
    action.sa_handler = signal_arrived;
    // Not nested, because the stack that a thread has for handlers may be small.
    sigfillset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) == 0) return 0;
    int error = -errno;
    __atomic_store_n(&state->is_taken, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
    return error;
}

void cuv_signal_give_back(int signal) {
    struct signal_state *state = &signals.of[signal];
    put_back(signal);
    __atomic_store_n(&state->is_taken, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&state->in_flight, __ATOMIC_SEQ_CST) > 0) sched_yield();
}

// In every forked child, whose parent's other threads do not exist.
static void give_all_back(void) {
    pthread_mutex_init(&child_signal, NULL);
    for (int signal = 1; signal < cuv_signal_count; signal++) {
        struct signal_state *state = &signals.of[signal];
        if (__atomic_exchange_n(&state->is_taken, 0, __ATOMIC_SEQ_CST)) put_back(signal);
        __atomic_store_n(&state->descriptor, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&state->in_flight, 0, __ATOMIC_SEQ_CST);
    }
}

__attribute__((constructor)) static void watch_forks(void) { cuv_at_fork(give_all_back); }

int cuv_signal_open_pending(int signal) {
    sigset_t set;
    sigemptyset(&set);
    if (sigaddset(&set, signal) != 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

int cuv_signal_take_pending(int descriptor) {
    struct signalfd_siginfo found[16];
    ssize_t length = read(descriptor, found, sizeof found);
    return length > 0 ? (int)(length / (ssize_t)sizeof found[0]) : 0;
}
