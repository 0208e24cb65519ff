// Which terminal a descriptor is of, and whether the process may use it.

#include "cuv_terminals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int64_t cuv_terminal_number(int descriptor) {
    unsigned int number = 0;
    return ioctl(descriptor, TIOCGDEV, &number) == 0 ? (int64_t)number : -errno;
}

// The session is compared because one end of a pseudo-terminal tells about the other's.
int cuv_terminal_is_in_background(int descriptor) {
    pid_t session = tcgetsid(descriptor);
    // Zero is a session of another PID namespace.
    return session >= 0 && session == getsid(0) && tcgetpgrp(descriptor) != getpgrp();
}

// The parent of a process that has not ended; negative if it has, and zero if the parent is in
// another PID namespace.
static pid_t parent_of(pid_t process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    // The program's name may contain anything.
    const char *rest = strrchr(text, ')');
    char state;
    int parent;
    int is_read = rest && sscanf(rest, ") %c %d", &state, &parent) == 2;
    return is_read && state != 'Z' ? parent : -1;
}

// Whether a process is one that would continue this job, as its shell does: it is in the session, but
// not in the group. One of another PID namespace, zero here, is taken for such.
static int is_shell_of_job(pid_t process) {
    if (process <= 0) return process == 0;
    return getsid(process) == getsid(0) && getpgid(process) != getpgrp();
}

// Whether the parent of any process of the group would continue it. If none would, the group is an
// orphaned one: the kernel does not stop it, but fails its use of a terminal.
static int may_be_stopped(void) {
    if (is_shell_of_job(getppid())) return 1;
    DIR *processes = opendir("/proc");
    if (!processes) return getsid(getppid()) == getsid(0);
    int is_found = 0;
    for (struct dirent *entry; !is_found && (entry = readdir(processes));) {
        pid_t process = atoi(entry->d_name);
        if (process > 0 && getpgid(process) == getpgrp())
            is_found = is_shell_of_job(parent_of(process));
    }
    closedir(processes);
    return is_found;
}

int cuv_terminal_interrupts(int descriptor, int signal) {
    if (!cuv_terminal_is_in_background(descriptor)) return 0;
    sigset_t blocked;
    struct sigaction action;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 || sigismember(&blocked, signal)) return 0;
    if (sigaction(signal, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return 0;
    if (!may_be_stopped()) return 0;
    int has_handler = action.sa_handler != SIG_DFL;
    // A process stops with its group.
    kill(has_handler ? getpid() : 0, signal);
    return has_handler;
}

int cuv_terminal_get(int descriptor, struct termios *flags) {
    while (tcgetattr(descriptor, flags) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

int cuv_terminal_set(int descriptor, const struct termios *flags) {
    while (tcsetattr(descriptor, TCSANOW, flags) != 0) {
        int status = -errno;
        // In the background a handler would be called for each attempt.
        if (status != -EINTR || cuv_terminal_is_in_background(descriptor)) return status;
    }
    return 0;
}

int cuv_terminal_make_raw(int descriptor, const struct termios *present) {
    struct termios flags = *present;
    flags.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    flags.c_oflag |= ONLCR;
    flags.c_cflag |= CS8;
    flags.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    flags.c_cc[VMIN] = 1;
    flags.c_cc[VTIME] = 0;
    return cuv_terminal_set(descriptor, &flags);
}
