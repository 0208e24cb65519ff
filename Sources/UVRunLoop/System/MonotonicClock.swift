import CUV
internal import CUVSupport

/// The current time of every loop on libuv: nanoseconds of `CLOCK_MONOTONIC`, which stops while the
/// system is suspended.
package func monotonicNow() -> Int64 { Int64(bitPattern: uv_hrtime()) }

/// Returns the later of a date and the current time.
///
/// For a date more than a second ahead the coarse clock is enough: it is read in 7 ns, the other
/// one in 36, and a timer is made in about 150.
func monotonicTime(notBefore date: Int64) -> Int64 {
    let nearby: Int64 = 1_000_000_000
    return date.addingSaturating(-nearby) > cuv_coarse_time() ? date : max(date, monotonicNow())
}
