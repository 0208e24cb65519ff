// The functions that can fail, and the errors that they can have. ENOSYS and EPERM are what a
// filter of system calls gives.
//
// Left out is what the kernel never says: an eventfd that is not full has room (EAGAIN), and a
// descriptor that is open is not closed (EBADF; epoll_ctl has it, because an owner may close what is
// watched).

#define FILTERED ENOSYS, EPERM
#define NO_DESCRIPTOR EMFILE, ENFILE

#define FAULT_CALLS(CALL)                                                                          \
    CALL(epoll_create1, NO_DESCRIPTOR, ENOMEM, FILTERED)                                           \
    CALL(epoll_ctl_add, EBADF, EEXIST, ENOMEM, ENOSPC, FILTERED)                                   \
    CALL(epoll_ctl_mod, EBADF, ENOENT, ENOMEM, FILTERED)                                           \
    CALL(epoll_ctl_del, EBADF, ENOENT, FILTERED)                                                   \
    CALL(epoll_wait, EINTR, FILTERED)                                                              \
    CALL(epoll_pwait, EINTR, FILTERED)                                                             \
    CALL(eventfd, NO_DESCRIPTOR, ENODEV, ENOMEM, FILTERED)                                         \
    CALL(timerfd_create, NO_DESCRIPTOR, ENODEV, ENOMEM, FILTERED)                                  \
    CALL(timerfd_settime, EINVAL, FILTERED)                                                        \
    CALL(signalfd, NO_DESCRIPTOR, ENODEV, ENOMEM, FILTERED)                                        \
    CALL(pipe2, NO_DESCRIPTOR, FILTERED)                                                           \
    CALL(socket, NO_DESCRIPTOR, EACCES, EAFNOSUPPORT, ENOBUFS, ENOMEM, FILTERED)                   \
    CALL(socketpair, NO_DESCRIPTOR, ENOMEM, FILTERED)                                              \
    CALL(bind, EACCES, EADDRINUSE, EADDRNOTAVAIL, ENOMEM, ENOSPC, EROFS, FILTERED)                 \
    CALL(listen, EADDRINUSE, ENOMEM, FILTERED)                                                     \
    CALL(accept4, NO_DESCRIPTOR, EAGAIN, ECONNABORTED, EINTR, ENOBUFS, ENOMEM, FILTERED)           \
    CALL(connect, EACCES, EAGAIN, ECONNREFUSED, EINTR, ENETUNREACH, ETIMEDOUT, FILTERED)           \
    CALL(shutdown, ENOTCONN, ENOBUFS, FILTERED)                                                    \
    CALL(getsockopt, ENOBUFS, ENOMEM, FILTERED)                                                    \
    CALL(setsockopt, ENOMEM, ENOPROTOOPT, FILTERED)                                                \
    CALL(getsockname, ENOBUFS, FILTERED)                                                           \
    CALL(getpeername, ENOBUFS, ENOTCONN, FILTERED)                                                 \
    CALL(read, EINTR, FILTERED)                                                                    \
    CALL(read_of_socket, EAGAIN, ECONNRESET, EINTR, ENOMEM, ETIMEDOUT, FILTERED)                   \
    CALL(write, EINTR, FILTERED)                                                                   \
    CALL(send, EAGAIN, ECONNRESET, EINTR, ENOBUFS, ENOMEM, EPIPE, FILTERED)                        \
    CALL(sendmsg, EAGAIN, ECONNRESET, EINTR, ENOBUFS, ENOMEM, EPIPE, FILTERED)                     \
    CALL(recv, EAGAIN, ECONNRESET, EINTR, ENOMEM, FILTERED)                                        \
    CALL(recvmsg, EAGAIN, ECONNRESET, EINTR, ENOMEM, FILTERED)                                     \
    CALL(recvmmsg, EAGAIN, ECONNREFUSED, EINTR, ENOMEM, FILTERED)                                  \
    CALL(sendmmsg, EAGAIN, ECONNREFUSED, EINTR, ENOBUFS, ENOMEM, FILTERED)                         \
    CALL(inotify_init1, NO_DESCRIPTOR, ENOMEM, FILTERED)                                           \
    CALL(inotify_add_watch, EACCES, ENOENT, ENOMEM, ENOSPC, FILTERED)                              \
    CALL(inotify_rm_watch, EINVAL, FILTERED)                                                       \
    CALL(fork, EAGAIN, ENOMEM)                                                                     \
    CALL(waitpid, ECHILD, EINTR)                                                                   \
    CALL(fcntl, EINTR, EINVAL, FILTERED)                                                           \
    CALL(ioctl, EINVAL, ENOTTY, FILTERED)                                                          \
    CALL(close, EINTR, EIO)                                                                        \
    CALL(open, NO_DESCRIPTOR, EACCES, EINTR, EIO, ENOENT, ENOMEM, ENOSPC, EROFS, FILTERED)         \
    CALL(dup, NO_DESCRIPTOR, FILTERED)                                                             \
    CALL(dup3, NO_DESCRIPTOR, EINTR, FILTERED)                                                     \
    CALL(fstat, EIO, ENOMEM, FILTERED)                                                             \
    CALL(stat, EACCES, EIO, ENOENT, ENOMEM, FILTERED)                                              \
    CALL(lstat, EACCES, EIO, ENOENT, ENOMEM, FILTERED)                                             \
    CALL(mkdir, EACCES, EEXIST, EIO, ENOENT, ENOMEM, ENOSPC, EROFS, FILTERED)                      \
    CALL(unlink, EACCES, EBUSY, EIO, ENOENT, ENOMEM, EROFS, FILTERED)                              \
    CALL(rename, EACCES, EIO, ENOENT, ENOMEM, ENOSPC, EROFS, FILTERED)                             \
    CALL(flock, EINTR, ENOLCK, EWOULDBLOCK, FILTERED)                                              \
    CALL(poll, EINTR, ENOMEM, FILTERED)                                                            \
    CALL(waitid, ECHILD, EINVAL, FILTERED)                                                         \
    CALL(sigaction, FILTERED)                                                                      \
    CALL(pthread_sigmask, FILTERED)                                                                \
    CALL(prctl, EINVAL, FILTERED)                                                                  \
    CALL(sem_wait, EINTR)                                                                          \
    CALL(pthread_create, EAGAIN, ENOMEM, EINVAL, EPERM)                                            \
    CALL(pthread_key_create, EAGAIN, ENOMEM)                                                       \
    CALL(pthread_setspecific, ENOMEM)                                                              \
    CALL(mmap, EAGAIN, ENOMEM, EPERM)                                                              \
    CALL(malloc, ENOMEM)                                                                           \
    CALL(calloc, ENOMEM)                                                                           \
    CALL(realloc, ENOMEM)                                                                          \
    CALL(pidfd_open, NO_DESCRIPTOR, EINVAL, ENODEV, ENOMEM, ESRCH, FILTERED)                       \
    CALL(pidfd_send_signal, EPERM, ESRCH, ENOSYS)                                                  \
    CALL(kcmp, FILTERED)                                                                           \
    CALL(tgkill, EAGAIN, ESRCH, FILTERED)                                                          \
    CALL(getrandom, EAGAIN, EINTR, FILTERED)
