#define _GNU_SOURCE
#include "Workload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "Clocks.h"
#include "Exempt.h"
#include "Real.h"

int work_pipe(int ends[2]) { return REAL(pipe2)(ends, O_CLOEXEC); }

int work_socket_pair(int ends[2]) {
    return REAL(socketpair)(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

void work_close(int descriptor) { REAL(close)(descriptor); }

bool work_write(int descriptor, unsigned char byte) { return REAL(write)(descriptor, &byte, 1) == 1; }

long work_read(int descriptor) {
    char bytes[64];
    if (work_is_blocking(descriptor)) {
        int flags = REAL(fcntl)(descriptor, F_GETFL);
        REAL(fcntl)(descriptor, F_SETFL, flags | O_NONBLOCK);
        long count = REAL(read)(descriptor, bytes, sizeof bytes);
        int error = errno;
        REAL(fcntl)(descriptor, F_SETFL, flags);
        return count >= 0 ? count : -error;
    }
    long count = REAL(read)(descriptor, bytes, sizeof bytes);
    return count >= 0 ? count : -errno;
}

bool work_is_blocking(int descriptor) {
    int flags = REAL(fcntl)(descriptor, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

static int countEntries(const char *path) {
    exempt_begin();
    DIR *directory = opendir(path);
    int count = 0;
    while (directory && readdir(directory)) count += 1;
    if (directory) closedir(directory);
    exempt_end();
    // Without the directory itself and its parent.
    return count - 2;
}

// One of them is the descriptor of the folder that is being read.
int work_count_descriptors(void) { return countEntries("/proc/self/fd") - 1; }

int work_count_threads(void) { return countEntries("/proc/self/task"); }

// MARK: Threads

struct start {
    work_body body;
    void *context;
    bool isPartOfOperation;
};

static void *runThread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    if (!start.isPartOfOperation) exempt_begin();
    clock_let_interrupt_thread();
    start.body(start.context);
    return NULL;
}

unsigned long work_start_thread(work_body body, void *context, bool isPartOfOperation) {
    struct start *start = malloc(sizeof *start);
    *start = (struct start){body, context, isPartOfOperation};
    pthread_t thread;
    if (REAL(pthread_create)(&thread, NULL, runThread, start) != 0) {
        fputs("faults: no thread could be started.\n", stderr);
        _exit(3);
    }
    return thread;
}

void work_join_thread(unsigned long thread) { pthread_join(thread, NULL); }

void work_sleep(long microseconds) {
    struct timespec rest = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

// MARK: Signals and processes

void work_raise(int number) {
    REAL(syscall)(SYS_tgkill, getpid(), REAL(syscall)(SYS_gettid), number);
}

bool work_has_default(int number) {
    struct sigaction present;
    return REAL(sigaction)(number, NULL, &present) == 0 && present.sa_handler == SIG_DFL;
}

pid_t work_start_process(int status, long microseconds) {
    exempt_begin();
    pid_t process = REAL(fork)();
    if (process == 0) {
        work_sleep(microseconds);
        _exit(status);
    }
    exempt_end();
    return process;
}

void work_reap(pid_t process) {
    while (REAL(waitpid)(process, NULL, 0) < 0 && errno == EINTR) {}
}

void work_end(pid_t process) {
    kill(process, SIGKILL);
    work_reap(process);
}

// MARK: The directory

bool work_make_file(const char *path) {
    REAL(unlink)(path);
    int file = REAL(open)(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return false;
    REAL(close)(file);
    return true;
}

static char directory[64];

const char *work_directory(void) { return directory; }

void work_make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/faults-XXXXXX");
    if (!mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1) != 0) {
        fputs("faults: no directory could be made in /tmp.\n", stderr);
        exit(3);
    }
}

static void removeEntries(const char *path) {
    DIR *opened = opendir(path);
    struct dirent *entry;
    while (opened && (entry = readdir(opened))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) removeEntries(name);
    }
    if (opened) closedir(opened);
    rmdir(path);
}

void work_remove_directory(void) { removeEntries(directory); }

void work_print_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

extern char **environ;

void work_run_without_backtraces(void) {
    if (getenv("SWIFT_BACKTRACE")) return;
    char *arguments[16] = {NULL};
    char line[4096];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    if (length <= 0) return;
    line[length] = 0;
    int count = 0;
    for (char *word = line; word < line + length && count < 15; word += strlen(word) + 1) arguments[count++] = word;
    setenv("SWIFT_BACKTRACE", "enable=no", 1);
    execve("/proc/self/exe", arguments, environ);
}
