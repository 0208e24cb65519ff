// Which call fails.

#define _GNU_SOURCE
#include "Plan.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "Calls.h"
#include "Children.h"
#include "Exempt.h"
#include "Failing.h"
#include "Real.h"

#define NAME(call, ...) #call,
static const char *const names[] = {FAULT_CALLS(NAME)};

enum { mostErrors = 16 };
#define ERRORS(call, ...) {__VA_ARGS__},
static const int errors[][mostErrors] = {FAULT_CALLS(ERRORS)};

int fault_call_count(void) { return sizeof names / sizeof names[0]; }
const char *fault_call_name(int call) { return names[call]; }
int fault_error(int call, int number) { return number < mostErrors ? errors[call][number] : 0; }
const char *fault_error_name(int error) { return strerrorname_np(error); }

// MARK: Who calls

struct range {
    uintptr_t begin, end;
};

/// Where the code of the program, of libuv and of Swift's overlay is.
static struct range program, libuv, overlay;

static int findCode(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size, (void)context;
    struct range *found = NULL;
    if (!library->dlpi_name[0]) found = &program;
    if (strstr(library->dlpi_name, "/libuv.so")) found = &libuv;
    if (strstr(library->dlpi_name, "/libswiftGlibc.so")) found = &overlay;
    for (int index = 0; found && index < library->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        found->begin = library->dlpi_addr + segment->p_vaddr;
        found->end = found->begin + segment->p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void findAllCode(void) { dl_iterate_phdr(findCode, NULL); }

static bool isIn(struct range range, const void *address) {
    return (uintptr_t)address >= range.begin && (uintptr_t)address < range.end;
}

// MARK: The chosen fault

static atomic_bool isOn;
static int chosenCall;
static long chosenIndex;
static int chosenError;
static bool chosenLasts;
static atomic_long counts[fault_calls_in_all];
static atomic_long hits;

static void reset(int call, long index, int error, bool lasts) {
    atomic_store(&isOn, false);
    chosenCall = call;
    chosenIndex = index;
    chosenError = error;
    chosenLasts = lasts;
    for (int each = 0; each < fault_calls_in_all; each++) atomic_store(&counts[each], 0);
    atomic_store(&hits, 0);
}

void fault_begin_counting(void) {
    reset(-1, 0, 0, false);
    atomic_store(&isOn, true);
}

void fault_begin(int call, long index, int error, bool lasts) {
    reset(call, index, error, lasts);
    atomic_store(&isOn, true);
}

void fault_end(void) { atomic_store(&isOn, false); }

void fault_resume(void) { atomic_store(&isOn, true); }

long fault_calls(int call) { return atomic_load(&counts[call]); }

long fault_calls_together(void) {
    long sum = 0;
    for (int call = 0; call < fault_calls_in_all; call++) sum += fault_calls(call);
    return sum;
}

long fault_hits(void) { return atomic_load(&hits); }

/// The last call that fails.
static long lastIndex(void) {
    // A caller that is interrupted tries again, so a storm has an end.
    enum { lengthOfStorm = 50 };
    if (!chosenLasts) return chosenIndex;
    return chosenError == EINTR ? chosenIndex + lengthOfStorm : LONG_MAX;
}

int failing(enum fault_call call, const void *caller) {
    if (!atomic_load_explicit(&isOn, memory_order_relaxed) || exempt_depth > 0) return 0;
    bool isLibuv = isIn(libuv, caller);
    // Swift ends the process when there is no memory; libuv returns an error.
    bool isMemory = call == fault_malloc || call == fault_calloc || call == fault_realloc;
    if (!isLibuv && (isMemory || (!isIn(program, caller) && !isIn(overlay, caller)))) return 0;
    long index = atomic_fetch_add(&counts[call], 1) + 1;
    if ((int)call != chosenCall) return 0;
    if (index < chosenIndex || index > lastIndex()) return 0;
    atomic_fetch_add(&hits, 1);
    return chosenError;
}

// MARK: The end of the process by libuv

static _Noreturn void endByLibuv(const char *how) {
    child_note_problem(how);
    child_exit(fault_libuv_aborted);
}

_Noreturn void abort(void) {
    if (isIn(libuv, __builtin_return_address(0))) endByLibuv("libuv called abort()");
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    child_exit(134);
}

_Noreturn void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    char text[160];
    snprintf(text, sizeof text, "%s:%u: %s: %s", file, line, function, what);
    if (isIn(libuv, __builtin_return_address(0))) endByLibuv(text);
    fprintf(stderr, "%s\n", text);
    abort();
}
