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

// The controlling terminal of the process, and not in its hands. The session is compared because
// one end of a pseudo-terminal tells about the other's.
static int is_in_background(int descriptor) {
    pid_t session = tcgetsid(descriptor);
    return session > 0 && session == getsid(0) && tcgetpgrp(descriptor) != getpgrp();
}

int cuv_terminal_refuses(int descriptor, int signal) {
    if (!is_in_background(descriptor)) return 0;
    sigset_t blocked;
    struct sigaction action;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, signal)
           && sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

int cuv_terminal_interrupts(int descriptor, int signal) {
    if (!cuv_terminal_refuses(descriptor, signal)) return 0;
    struct sigaction action;
    if (sigaction(signal, NULL, &action) != 0 || action.sa_handler == SIG_DFL) return 0;
    kill(getpid(), signal);
    return 1;
}
