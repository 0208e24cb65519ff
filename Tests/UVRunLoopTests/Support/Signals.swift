import Glibc

/// Runs a body in a process of its own, whose one thread lets every signal through.
///
/// The threads that run tests let none through.
func withAllSignals(_ body: () -> Void) {
    inQuietProcess {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        body()
    }
}
