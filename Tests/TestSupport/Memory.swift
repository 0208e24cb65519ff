import Glibc

/// Whether the system gives a process so much memory as long as it is not touched.
package func hasMemory(for byteCount: Int) -> Bool {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard memory != MAP_FAILED else { return false }
    munmap(memory, byteCount)
    return true
}

/// The memory that the process has asked the system for and touched.
package func residentByteCount() -> Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = fread(&text, 1, text.count, file)
    let words = String(decoding: text[..<count], as: UTF8.self).split(separator: " ")
    return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
}
