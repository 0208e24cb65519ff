// Which terminal a descriptor is of, and whether the process may use it.

#include "cuv_terminals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
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

// Whether the parent is in the session. If not, the group is taken for an orphaned one, which nobody
// would continue: the kernel fails its use of a terminal. The parent need not be another job: it may
// be the job's own shell, whose parent is.
static int may_be_stopped(void) { return getsid(getppid()) == getsid(0); }

int cuv_terminal_interrupts(int descriptor, int signal) {
    if (!cuv_terminal_is_in_background(descriptor) || !may_be_stopped()) return 0;
    sigset_t blocked;
    struct sigaction action;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 || sigismember(&blocked, signal)) return 0;
    if (sigaction(signal, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return 0;
    int has_handler = action.sa_handler != SIG_DFL;
    // A process stops with its group.
    kill(has_handler ? getpid() : 0, signal);
    return has_handler;
}

int cuv_terminal_make_raw(int descriptor, const struct termios *present) {
    struct termios flags = *present;
    flags.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    flags.c_oflag |= ONLCR;
    flags.c_cflag |= CS8;
    flags.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    flags.c_cc[VMIN] = 1;
    flags.c_cc[VTIME] = 0;
    return tcsetattr(descriptor, TCSANOW, &flags) == 0 ? 0 : -errno;
}
