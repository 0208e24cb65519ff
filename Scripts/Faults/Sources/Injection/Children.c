#define _GNU_SOURCE
#include "Children.h"

#include "Real.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct page {
    char step[64];
    char problem[192];
    long numbers[child_numbers];
};

/// Shared with the children.
static struct page *pages;
/// The one of this child.
static struct page *own;

__attribute__((constructor)) static void makePages(void) {
    void *memory = mmap(
        NULL, sizeof(struct page) * child_slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0
    );
    if (memory == MAP_FAILED) abort();
    pages = memory;
}

static void beginWatch(long milliseconds) {
    struct itimerval limit = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000}};
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &limit, NULL);
}

pid_t child_start(int slot, long milliseconds, child_body body, void *context) {
    memset(&pages[slot], 0, sizeof pages[slot]);
    pid_t process = REAL(fork)();
    if (process != 0) return process;
    own = &pages[slot];
    beginWatch(milliseconds);
    body(context);
    _exit(0);
}

struct child_end child_wait(int slot, pid_t process) {
    int status = 0;
    while (REAL(waitpid)(process, &status, 0) < 0 && errno == EINTR) {}
    struct child_end end = {.status = -1};
    if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    memcpy(end.step, pages[slot].step, sizeof end.step);
    memcpy(end.problem, pages[slot].problem, sizeof end.problem);
    memcpy(end.numbers, pages[slot].numbers, sizeof end.numbers);
    return end;
}

void child_note_step(const char *step) {
    if (own) snprintf(own->step, sizeof own->step, "%s", step);
}

void child_note_problem(const char *problem) {
    if (own && !own->problem[0]) snprintf(own->problem, sizeof own->problem, "%s", problem);
}

void child_note_number(int index, long number) {
    if (own) own->numbers[index] = number;
}

_Noreturn void child_exit(int status) { _exit(status); }
