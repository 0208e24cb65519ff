// Captures the stack of another thread: a signal handler on that thread walks it.

// For the names of registers.
#define _GNU_SOURCE

#include "cuv_stacks.h"

#include "cuv_threads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

// A function of the Swift runtime that no header declares.
void *swift_retain(void *object);

enum phase { waiting, taken, done, abandoned };

// The one request at a time. A signal that comes late finds the state of another request, or of one
// that was abandoned.
static struct {
    unsigned serial;
    unsigned state;
    int outcome;
    uint64_t identity;
    uint64_t expected;
    struct cuv_activity activity;
    struct cuv_stack stack;
    sem_t is_done;
} request;

static int signal_number;

// The serial number is part of the state, so that a handler takes its own request or none.
static unsigned state_of(unsigned serial, enum phase phase) { return serial << 2 | phase; }

struct walk {
    uintptr_t counter;
    // Whether the frames of the signal handler are behind.
    int has_begun;
};

static uintptr_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    return 0;
#endif
}

static void add(uintptr_t address) {
    if (request.stack.count < cuv_stack_limit) request.stack.frames[request.stack.count++] = address;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
    if (address == 0 || request.stack.count == cuv_stack_limit) return _URC_END_OF_STACK;
    if (walk->has_begun) {
        add(address);
    } else if (address == walk->counter) {
        walk->has_begun = 1;
    }
    return _URC_NO_REASON;
}

// Walks the stack of this thread as it was when the signal came.
static void capture(const ucontext_t *context) {
    struct walk walk = {.counter = program_counter(context)};
    request.stack.count = 0;
    add(walk.counter);
    _Unwind_Backtrace(step, &walk);
    void *item = (void *)__atomic_load_n(request.activity.item, __ATOMIC_RELAXED);
    request.stack.item = item ? swift_retain(item) : NULL;
}

static int is_current(void) {
    struct cuv_thread *thread = cuv_current_thread();
    return thread->record != NULL && thread->identity == request.identity
           && __atomic_load_n(request.activity.word, __ATOMIC_ACQUIRE) == request.expected;
}

static void stack_was_requested(int number, siginfo_t *information, void *context) {
    (void)number;
    int error = errno;
    unsigned serial = (unsigned)information->si_value.sival_int;
    unsigned expected = state_of(serial, waiting);
    if (information->si_code == SI_QUEUE
        && __atomic_compare_exchange_n(
            &request.state, &expected, state_of(serial, taken), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        request.outcome = is_current() ? 0 : -ESTALE;
        if (request.outcome == 0) capture(context);
        // Posted first: once the request is done, the next one may begin.
        sem_post(&request.is_done);
        __atomic_store_n(&request.state, state_of(serial, done), __ATOMIC_RELEASE);
    }
    errno = error;
}

// Finds a real-time signal that nothing handles.
static int free_signal(void) {
    for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--) {
        struct sigaction present;
        if (sigaction(number, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO)
            && present.sa_handler == SIG_DFL) {
            return number;
        }
    }
    return -EBUSY;
}

int cuv_stacks_prepare(void) {
    if (__atomic_load_n(&signal_number, __ATOMIC_ACQUIRE) > 0) return 0;
    int number = free_signal();
    if (number < 0) return number;
    if (sem_init(&request.is_done, 0, 0) != 0) return -errno;
    struct sigaction action = {.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO};
    action.sa_sigaction = stack_was_requested;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0) return -errno;
    __atomic_store_n(&signal_number, number, __ATOMIC_RELEASE);
    return 0;
}

void cuv_stacks_accept(void) {
    int number = __atomic_load_n(&signal_number, __ATOMIC_ACQUIRE);
    if (number == 0) return;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// Whether the signal is still this file's: other code may have installed a handler since.
static int is_handled_here(void) {
    struct sigaction present;
    return sigaction(signal_number, NULL, &present) == 0 && present.sa_flags & SA_SIGINFO
           && present.sa_sigaction == stack_was_requested;
}

static int send(pid_t thread) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    information.si_signo = signal_number;
    information.si_code = SI_QUEUE;
    information.si_pid = getpid();
    information.si_uid = getuid();
    information.si_value.sival_int = (int)request.serial;
    long status = syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal_number, &information);
    return status == 0 ? 0 : -errno;
}

// Waits for the handler, for up to a tenth of a second.
static void await_handler(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 100000000;
    if (limit.tv_nsec >= 1000000000) {
        limit.tv_nsec -= 1000000000;
        limit.tv_sec++;
    }
    while (sem_timedwait(&request.is_done, &limit) != 0 && errno == EINTR) {}
}

int cuv_stack_capture(
    pid_t thread, uint64_t identity, struct cuv_activity activity, uint64_t expected,
    struct cuv_stack *_Nonnull stack) {
    if (signal_number == 0) return -ENOSYS;
    if (!is_handled_here()) return -EBUSY;
    while (sem_trywait(&request.is_done) == 0) {}
    request.identity = identity;
    request.expected = expected;
    request.activity = activity;
    request.serial++;
    unsigned found = state_of(request.serial, waiting);
    __atomic_store_n(&request.state, found, __ATOMIC_RELEASE);
    int status = send(thread);
    if (status < 0) return status;
    await_handler();
    unsigned given_up = state_of(request.serial, abandoned);
    if (__atomic_compare_exchange_n(
            &request.state, &found, given_up, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return -ETIMEDOUT;
    }
    // The handler has begun, and does not wait for anything.
    while (__atomic_load_n(&request.state, __ATOMIC_ACQUIRE) != state_of(request.serial, done)) {
        struct timespec moment = {.tv_nsec = 1000000};
        nanosleep(&moment, NULL);
    }
    if (request.outcome == 0) *stack = request.stack;
    return request.outcome;
}
