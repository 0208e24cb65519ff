import BenchSystem
import Glibc

/// The memory of this process, in bytes.
package enum ProcessMemory {
    /// The part of the process's memory that is resident.
    package static var resident: Int {
        guard let file = fopen("/proc/self/statm", "r") else { fail("there is no /proc.") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, CInt(line.count), file) != nil else {
            fail("/proc/self/statm is empty.")
        }
        let bytes = line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else {
            fail("/proc/self/statm has no number of pages.")
        }
        return pages * sysconf(CInt(_SC_PAGESIZE))
    }

    /// The bytes that malloc has handed out and not got back; 0 where another malloc replaces it.
    package static var allocated: Int { bench_allocated_bytes() }
}
