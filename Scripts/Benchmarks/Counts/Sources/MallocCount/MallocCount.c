// The functions that take the place of the C library's, and the counting.

#define _GNU_SOURCE
#include "MallocCount.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#endif

// MARK: The allocator

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static _Thread_local long allocations;

// A few instructions each: what is counted here is counted by callgrind, too.

void *malloc(size_t size) {
    allocations += 1;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations += 1;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations += 1;
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    allocations += 1;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1)) return EINVAL;
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}

void free(void *memory) { __libc_free(memory); }

long count_bytes_held(void) {
    struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
}

// MARK: The clock

static int (*realClock)(clockid_t clock, struct timespec *time);
static _Thread_local long clockReads;
/// Nanoseconds; 0 while the clocks run.
static atomic_long stoppedAt;
/// Whether stopped clocks go on by what a thread has slept.
static atomic_bool sleepsTakeTime;
static const long billion = 1000000000;

/// Where libuv's code is.
static uintptr_t libuvBegin, libuvEnd;

static int findLibuv(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size, (void)context;
    if (!strstr(library->dlpi_name, "/libuv.so")) return 0;
    for (int index = 0; index < library->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        libuvBegin = library->dlpi_addr + segment->p_vaddr;
        libuvEnd = libuvBegin + segment->p_memsz;
    }
    return 1;
}

__attribute__((constructor)) static void findClock(void) {
    *(void **)&realClock = dlsym(RTLD_NEXT, "clock_gettime");
    dl_iterate_phdr(findLibuv, NULL);
}

static int askRealClock(clockid_t clock, struct timespec *time) {
    return realClock ? realClock(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}

static long nanoseconds(struct timespec time) { return time.tv_sec * billion + time.tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (caller < libuvBegin || caller >= libuvEnd) clockReads += 1;
    long stopped = atomic_load_explicit(&stoppedAt, memory_order_relaxed);
    if (stopped && clock != CLOCK_REALTIME) {
        *time = (struct timespec){stopped / billion, stopped % billion};
        return 0;
    }
    return askRealClock(clock, time);
}

/// libuv's way to ask for the time, which it does not use itself.
uint64_t uv_hrtime(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)nanoseconds(time);
}

/// Has the stopped clocks show the present time.
static void catchUp(void) {
    struct timespec time;
    askRealClock(CLOCK_MONOTONIC, &time);
    atomic_store(&stoppedAt, nanoseconds(time));
}

void count_stop_clocks(void) { catchUp(); }

void count_advance_clocks(long nanoseconds) { atomic_fetch_add(&stoppedAt, nanoseconds); }

// MARK: From the kernel's return to a handler

static _Thread_local enum { LATE_NOT, LATE_EXPECTED, LATE_COUNTED } late;

void count_late_expect(void) { late = LATE_EXPECTED; }

static void kernelHasReturned(int found) {
    if (late != LATE_EXPECTED || found <= 0) return;
    late = LATE_COUNTED;
    CALLGRIND_TOGGLE_COLLECT;
}

void count_late_end(void) {
    if (late != LATE_COUNTED) return;
    CALLGRIND_TOGGLE_COLLECT;
    late = LATE_NOT;
}

// MARK: Sleeps

void count_stop_clocks_but_in_sleeps(void) {
    count_stop_clocks();
    atomic_store(&sleepsTakeTime, true);
}

int epoll_pwait(
    int epoll, struct epoll_event *events, int most, int milliseconds, const sigset_t *mask
) {
    int found = (int)syscall(SYS_epoll_pwait, epoll, events, most, milliseconds, mask, _NSIG / 8);
    if (milliseconds && atomic_load_explicit(&sleepsTakeTime, memory_order_relaxed)) catchUp();
    kernelHasReturned(found);
    return found;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int milliseconds) {
    return epoll_pwait(epoll, events, most, milliseconds, NULL);
}

// MARK: The sender's writes

/// A write that a sender has made, and that goes out when its part is done.
///
/// libuv's `uv_async_send` has something to do after its write, and a loop that is awake before
/// that is done spins: a matter of chance, and of the counters, which slow the sender down.
static _Thread_local struct {
    bool isSender;
    int descriptor;
    size_t size;
    char bytes[8];
} sent;

static void letOut(void) {
    if (sent.size) syscall(SYS_write, sent.descriptor, sent.bytes, sent.size);
    sent.size = 0;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    if (!sent.isSender || size > sizeof sent.bytes) {
        return syscall(SYS_write, descriptor, bytes, size);
    }
    letOut();
    sent.descriptor = descriptor;
    sent.size = size;
    memcpy(sent.bytes, bytes, size);
    return (ssize_t)size;
}

// MARK: The pool of the concurrency runtime

// The runtime's hook, called instead of giving a job to its pool of threads.
typedef __attribute__((swiftcall)) void (*enqueue_original)(void *job);
typedef __attribute__((swiftcall)) void (*enqueue_hook)(void *job, enqueue_original original);
__attribute__((weak)) extern enqueue_hook swift_task_enqueueGlobal_hook;

static atomic_long poolJobs;

static __attribute__((swiftcall)) void enqueue(void *job, enqueue_original original) {
    atomic_fetch_add_explicit(&poolJobs, 1, memory_order_relaxed);
    original(job);
}

__attribute__((constructor)) static void setHook(void) {
    if (&swift_task_enqueueGlobal_hook) swift_task_enqueueGlobal_hook = enqueue;
}

// MARK: The parts

static atomic_long allocationsOf[COUNT_PARTS];
static atomic_long clockReadsOf[COUNT_PARTS];
static atomic_long poolJobsOf[COUNT_PARTS];

long count_allocations(enum count_part part) { return atomic_load(&allocationsOf[part]); }
long count_clock_reads(enum count_part part) { return atomic_load(&clockReadsOf[part]); }
long count_pool_jobs(enum count_part part) { return atomic_load(&poolJobsOf[part]); }

static void mark(const char *name) { syscall(SYS_write, -1, name, strlen(name)); }

static inline __attribute__((always_inline)) void run(
    enum count_part part, const char *begin, const char *end, count_body body, void *context
) {
    mark(begin);
    long allocationsBefore = allocations, clockReadsBefore = clockReads;
    long poolJobsBefore = atomic_load(&poolJobs);
    sent.isSender = part >= COUNT_SENDER_SINGLE;
    body(context);
    sent.isSender = false;
    letOut();
    atomic_fetch_add(&allocationsOf[part], allocations - allocationsBefore);
    atomic_fetch_add(&clockReadsOf[part], clockReads - clockReadsBefore);
    atomic_fetch_add(&poolJobsOf[part], atomic_load(&poolJobs) - poolJobsBefore);
    mark(end);
}

// Each is a function of its own, because callgrind tells them apart by name.

__attribute__((noinline)) void count_loop_single(count_body body, void *context) {
    run(COUNT_LOOP_SINGLE, "count begin loop single", "count end", body, context);
}

__attribute__((noinline)) void count_loop_double(count_body body, void *context) {
    run(COUNT_LOOP_DOUBLE, "count begin loop double", "count end", body, context);
}

__attribute__((noinline)) void count_sender_single(count_body body, void *context) {
    run(COUNT_SENDER_SINGLE, "count begin sender single", "count end", body, context);
}

__attribute__((noinline)) void count_sender_double(count_body body, void *context) {
    run(COUNT_SENDER_DOUBLE, "count begin sender double", "count end", body, context);
}

// MARK: Threads

int count_thread_number(void) { return (int)syscall(SYS_gettid); }

bool count_thread_sleeps(int number) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    // The state follows the thread's name, which is in parentheses and may hold others.
    const char *state = strrchr(text, ')');
    return state && strlen(state) > 2 && state[2] == 'S';
}
