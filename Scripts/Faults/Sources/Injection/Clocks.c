#define _GNU_SOURCE
#include "Clocks.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "Exempt.h"
#include "Real.h"
#include "Shown.h"

static const long billion = 1000000000;

static atomic_long offset, offsetOfDay;
/// How often each time is shown, and what that is.
static atomic_long readingsOfEach = 1;
static atomic_long readings, shown;

static long number(struct timespec time) { return time.tv_sec * billion + time.tv_nsec; }

static struct timespec date(long nanoseconds) {
    if (nanoseconds < 0) nanoseconds = 0;
    return (struct timespec){nanoseconds / billion, nanoseconds % billion};
}

void clock_show_each(long count) {
    atomic_store(&shown, 0);
    atomic_store(&readingsOfEach, count);
}

void clock_jump(long nanoseconds) { atomic_fetch_add(&offset, nanoseconds); }

void clock_jump_day(long nanoseconds) { atomic_fetch_add(&offsetOfDay, nanoseconds); }

/// The time that a clock shows when it stands still for some readings.
static long still(long now, long each) {
    long last = atomic_load(&shown);
    if (last != 0 && atomic_fetch_add(&readings, 1) % each != 0) return last < now ? last : now;
    while (last < now && !atomic_compare_exchange_weak(&shown, &last, now)) {}
    return now > last ? now : last;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = REAL(clock_gettime)(clock, time);
    if (status != 0 || exempt_depth > 0) return status;
    if (clock == CLOCK_REALTIME) {
        *time = date(number(*time) + atomic_load(&offsetOfDay));
        return 0;
    }
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE) return 0;
    long now = number(*time) + atomic_load(&offset);
    long each = atomic_load(&readingsOfEach);
    *time = date(each > 1 && clock == CLOCK_MONOTONIC ? still(now, each) : now);
    return 0;
}

struct timespec kernel_date(clockid_t clock, struct timespec moved) {
    long distance = atomic_load(clock == CLOCK_REALTIME ? &offsetOfDay : &offset);
    if (distance == 0 || number(moved) == 0) return moved;
    long kernel = number(moved) - distance;
    // A timerfd takes 0 for none.
    return date(kernel > 0 ? kernel : 1);
}

// MARK: Interruptions

static atomic_long interruptions;
static timer_t timer;

static void noteInterruption(int number) {
    (void)number;
    atomic_fetch_add(&interruptions, 1);
}

static void setBlocked(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 4);
    REAL(pthread_sigmask)(how, &set, NULL);
}

void clock_let_interrupt_thread(void) { setBlocked(SIG_UNBLOCK); }

void clock_interrupt_every(long microseconds) {
    if (microseconds == 0) {
        timer_delete(timer);
        return;
    }
    int number = SIGRTMIN + 4;
    // The kernel would always take a process's first thread.
    setBlocked(SIG_BLOCK);
    struct sigaction action = {.sa_handler = noteInterruption};
    REAL(sigaction)(number, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct timespec interval = {microseconds / 1000000, microseconds % 1000000 * 1000};
    struct itimerspec setting = {interval, interval};
    timer_settime(timer, 0, &setting, NULL);
}

long clock_interruptions(void) { return atomic_load(&interruptions); }

// MARK: Stops

int clock_stop_process(long milliseconds) {
    pid_t process = getpid();
    exempt_begin();
    pid_t other = REAL(fork)();
    if (other == 0) {
        struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        kill(process, SIGSTOP);
        nanosleep(&time, NULL);
        kill(process, SIGCONT);
        _exit(0);
    }
    exempt_end();
    return other;
}

void clock_await_stop(int stop) {
    while (REAL(waitpid)(stop, NULL, 0) < 0 && errno == EINTR) {}
}
