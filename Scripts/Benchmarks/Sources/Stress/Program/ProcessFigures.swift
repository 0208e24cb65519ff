import BenchSupport
import Glibc

/// The resources of the process, as the system says.
struct ProcessFigures {
    let residentBytes: Int
    let peakResidentBytes: Int
    /// The bytes that malloc has handed out and not got back; `nil` where it is not the system's.
    let allocatedBytes: Int?
    let descriptors: Int
    let voluntarySwitches: Int
    let involuntarySwitches: Int
    /// Seconds.
    let userTime: Double
    let systemTime: Double

    init() {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        voluntarySwitches = usage.ru_nvcsw
        involuntarySwitches = usage.ru_nivcsw
        userTime = Self.seconds(usage.ru_utime)
        systemTime = Self.seconds(usage.ru_stime)
        residentBytes = ProcessMemory.resident
        peakResidentBytes = max(usage.ru_maxrss * 1_024, residentBytes)
        let allocated = ProcessMemory.allocated
        allocatedBytes = allocated > 0 ? allocated : nil
        descriptors = Self.countDescriptors()
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func countDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Not ".", "..", and the folder itself.
        return count - 3
    }
}
