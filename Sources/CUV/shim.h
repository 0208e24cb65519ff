#ifndef CUV_SHIM_H
#define CUV_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#if UV_VERSION_HEX < 0x012C00
#error "UVRunLoop needs libuv 1.44 or later."
#endif

// What Swift cannot import from C: packed unions, variadic calls and macros. A function that can
// fail returns 0 (or a count or a descriptor) or a negated errno, as libuv's do; one that asks a question, 1 or 0.

static inline int cuv_epoll_control(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

static inline int cuv_epoll_add(int epoll, int descriptor, uint32_t events) {
    return cuv_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, events);
}

static inline int cuv_epoll_modify(int epoll, int descriptor, uint32_t events) {
    return cuv_epoll_control(epoll, EPOLL_CTL_MOD, descriptor, events);
}

static inline int cuv_epoll_delete(int epoll, int descriptor) {
    return cuv_epoll_control(epoll, EPOLL_CTL_DEL, descriptor, 0);
}

static inline int cuv_epoll_create(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll >= 0 ? epoll : -errno;
}

struct cuv_ready {
    int descriptor;
    uint32_t events;
};

// Which descriptors of libuv's epoll set are ready, without waiting; answers how many.
static inline int cuv_epoll_ready(int epoll, struct cuv_ready *_Nonnull found, int capacity) {
    struct epoll_event events[1024];
    int limit = capacity < 1024 ? capacity : 1024;
    int count = epoll_wait(epoll, events, limit, 0);
    for (int index = 0; index < count; index++) {
        found[index].descriptor = events[index].data.fd;
        found[index].events = events[index].events;
    }
    return count >= 0 ? count : -errno;
}

static inline int cuv_timer_create(void) {
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

// Arms for an absolute moment of CLOCK_MONOTONIC in nanoseconds; 0 disarms.
static inline int cuv_timer_set(int descriptor, int64_t nanoseconds) {
    struct itimerspec moment = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &moment, NULL) == 0 ? 0 : -errno;
}

// CLOCK_MONOTONIC as of the latest tick of the system's timer, in nanoseconds: it costs a quarter of the exact time.
static inline int64_t cuv_coarse_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int cuv_unread_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -errno;
}

// The flags of a descriptor's open file, O_NONBLOCK among them.
static inline int cuv_file_flags(int descriptor) {
    int flags;
    do { flags = fcntl(descriptor, F_GETFL); } while (flags < 0 && errno == EINTR);
    return flags >= 0 ? flags : -errno;
}

static inline int cuv_set_file_flags(int descriptor, int flags) {
    int status;
    do { status = fcntl(descriptor, F_SETFL, flags); } while (status < 0 && errno == EINTR);
    return status >= 0 ? 0 : -errno;
}

// The condition of a descriptor at this moment, as poll(2)'s revents, or a negated errno.
static inline int cuv_condition(int descriptor) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLOUT | EPOLLRDHUP};
    return poll(&state, 1, 0) >= 0 ? state.revents : -errno;
}

// Makes a loop; one that could not be made leaves no descriptor behind, as it does with libuv up to 1.50.
static inline int cuv_loop_init(uv_loop_t *loop) {
    int status = uv_loop_init(loop);
    // Negative where libuv has closed it; 0 where it failed before it had opened anything.
    if (status < 0 && loop->backend_fd > 0) close(loop->backend_fd);
    return status;
}

// Takes a watcher from the list of those which libuv has yet to tell the kernel of. The caller tells the kernel
// instead: libuv would ask for all that it was started for, with a call in which it also runs the callbacks of handles
// that are not the caller's, and it aborts the process if the kernel refuses.
static inline void cuv_watcher_settle(uv__io_t *watcher) {
    // Two pointers, to the next and to the previous one, under a name that differs from version to version of libuv.
    void **node = (void **)&watcher->watcher_queue;
    void **next = (void **)node[0];
    void **previous = (void **)node[1];
    previous[0] = next;
    next[1] = previous;
    node[0] = node;
    node[1] = node;
    watcher->events = watcher->pevents;
}

static inline void cuv_poll_settle(uv_poll_t *poll) { cuv_watcher_settle(&poll->io_watcher); }

// Tells the kernel of all that a new loop waits for on its own account: its signals, and its wake-ups. If the kernel
// refuses, the loop can only be closed, in a run that waits for nothing.
static inline int cuv_loop_settle(uv_loop_t *loop) {
    void **queue = (void **)&loop->watcher_queue;
    int status = 0;
    while (queue[0] != queue) {
        uv__io_t *watcher = (uv__io_t *)((char *)queue[0] - offsetof(uv__io_t, watcher_queue));
        if (status == 0) status = cuv_epoll_add(uv_backend_fd(loop), watcher->fd, watcher->pevents);
        cuv_watcher_settle(watcher);
    }
    return status;
}

// The eventfd that libuv's wake-ups go through, or a negative number where it has another kind of descriptor.
static inline int cuv_loop_eventfd(const uv_loop_t *loop) {
    return loop->async_wfd == -1 ? loop->async_io_watcher.fd : -1;
}

// Whether libuv would find a descriptor ready.
static inline int cuv_has_ready_descriptor(const uv_loop_t *loop) {
    struct pollfd state = {.fd = uv_backend_fd(loop), .events = POLLIN};
    return poll(&state, 1, 0) > 0;
}

// Waits until libuv may have something to do, for so many milliseconds at most.
static inline void cuv_await_work(const uv_loop_t *loop, int milliseconds) {
    struct pollfd state = {.fd = uv_backend_fd(loop), .events = POLLIN};
    poll(&state, 1, milliseconds);
}

// Takes back a call of uv_stop: outside of uv_run it would only keep the next one from looking.
static inline void cuv_forget_stop(uv_loop_t *loop) { loop->stop_flag = 0; }

static inline pid_t cuv_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

// Names the calling thread; more than 15 bytes are cut off.
static inline void cuv_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline int cuv_is_main_thread(void) { return cuv_thread_id() == getpid(); }

// What the library knows of a thread.
struct cuv_thread {
    void *record;
    uint64_t identity;
    uint64_t generation;
    void *home;
    void *loop;
    uintptr_t loop_place;
};

// The calling thread's. Unlike a thread-specific key's value it stays to the very end of the thread, after all
// destructors. Every object file that calls this has one of its own: call it from one only.
static inline struct cuv_thread *_Nonnull cuv_current_thread(void) {
    static _Thread_local struct cuv_thread thread;
    return &thread;
}

// Has a function called when the calling thread ends, before the destructors of thread-specific keys: what thread_local
// objects of C++ use. Asked too late, among those destructors, it is never called.
int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

static inline int cuv_at_thread_end(void (*function)(void *), void *argument) {
    // The last argument may be any address in the library or program that the function is in.
    return __cxa_thread_atexit_impl(function, argument, (void *)function);
}

// Whether a thread of this process has left the system. One that has taken its number since counts as itself.
static inline int cuv_is_thread_gone(pid_t thread) {
    return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

// Whether two descriptors of this process share an open file. Where the kernel does not tell, they are taken to.
static inline int cuv_is_same_file(int one, int other) {
    const int compare_files = 0; // KCMP_FILE
    pid_t process = getpid();
    return syscall(SYS_kcmp, process, process, compare_files, (long)one, (long)other) <= 0;
}

// A mutex that spins for a moment before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP, which the headers hide).
static inline void cuv_mutex_init(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, 3);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

// A condition whose dates are those of CLOCK_MONOTONIC.
static inline void cuv_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

// Waits until a moment in nanoseconds; returns 0, or a negated errno when the moment has come.
static inline int cuv_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
    struct timespec moment = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return -pthread_cond_timedwait(condition, mutex, &moment);
}

// Sleeps while a word has a value, for so many nanoseconds at most; returns 1 when they have passed, otherwise 0.
static inline int cuv_futex_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int saved = errno;
    long status = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
    int is_timed_out = status != 0 && errno == ETIMEDOUT;
    errno = saved;
    return is_timed_out;
}

// Wakes one thread that sleeps on a word.
static inline void cuv_futex_wake(const void *_Nonnull word) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

// Sleeps for 20 microseconds at least.
static inline void cuv_nap(void) {
    struct timespec time = {.tv_nsec = 20000};
    int saved = errno;
    nanosleep(&time, NULL);
    errno = saved;
}

// Tells the processor that this is a loop which waits for another one.
static inline void cuv_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

enum {
    cuv_poll_in = POLLIN,
    cuv_poll_out = POLLOUT,
    cuv_poll_error = POLLERR,
    cuv_poll_hang_up = POLLHUP,
    cuv_poll_invalid = POLLNVAL,
    cuv_poll_peer_hang_up = EPOLLRDHUP,
};

#endif
