import Glibc

/// Lets other threads run.
func sleepBriefly(times: Int = 1) {
    for _ in 0..<times { usleep(200) }
}
