// Child processes by pidfd: system calls that the C library may not declare.

#include "cuv_children.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int cuv_child_open(pid_t process) {
    const long pidfd_open = 434; // SYS_pidfd_open, which the headers may not know
    long descriptor = syscall(pidfd_open, process, 0);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

int cuv_child_end(int descriptor, int only_asks, struct cuv_end *_Nonnull end) {
    const idtype_t by_descriptor = (idtype_t)3; // P_PIDFD
    siginfo_t info = {.si_pid = 0};
    int options = WEXITED | WNOHANG | (only_asks ? WNOWAIT : 0);
    if (waitid(by_descriptor, (id_t)descriptor, &info, options) != 0) return -errno;
    if (info.si_pid == 0) return 0;
    end->code = info.si_code;
    end->status = info.si_status;
    return 1;
}
