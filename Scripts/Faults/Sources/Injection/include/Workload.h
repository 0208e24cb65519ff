// System calls that the operations need for themselves: they never fail on purpose, and are not
// counted.

#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

int work_pipe(int ends[2]);
int work_socket_pair(int ends[2]);
void work_close(int descriptor);
/// Writes one byte; returns whether it went out.
bool work_write(int descriptor, unsigned char byte);
/// Reads what is there without waiting; returns how many bytes, 0 at the end, or a negated errno.
long work_read(int descriptor);
bool work_is_blocking(int descriptor);
/// How many descriptors the process has.
int work_count_descriptors(void);
/// How many threads the process has.
int work_count_threads(void);

typedef void (*work_body)(void *context);

/// Starts a thread; `isPartOfOperation` says whether its calls are counted and may fail.
unsigned long work_start_thread(work_body body, void *context, bool isPartOfOperation);
void work_join_thread(unsigned long thread);
void work_sleep(long microseconds);

/// Sends the calling thread a signal.
void work_raise(int signal);
/// Whether a signal has its default disposition.
bool work_has_default(int signal);
/// Starts a process that exits with the status, after so many microseconds.
pid_t work_start_process(int status, long microseconds);
/// Takes the end of a process that nobody else has waited for.
void work_reap(pid_t process);
/// Ends a process, and takes its end.
void work_end(pid_t process);

/// Makes an empty file, in place of one that is there; returns whether it could be made.
bool work_make_file(const char *path);

/// Makes a directory of this process's own for named ports, and has the library use it.
void work_make_directory(void);
/// Removes that directory.
void work_remove_directory(void);
const char *work_directory(void);

/// Has what is printed go out line by line, so that forked processes repeat none of it.
void work_print_lines(void);
/// Starts the program anew without the backtraces of crashes, unless SWIFT_BACKTRACE asks for them:
/// they would take a second each.
void work_run_without_backtraces(void);

#endif
