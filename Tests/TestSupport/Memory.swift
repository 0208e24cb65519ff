import Glibc

/// Whether the system gives a process so much memory as long as it is not touched.
package func hasMemory(for byteCount: Int) -> Bool {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard memory != MAP_FAILED else { return false }
    munmap(memory, byteCount)
    return true
}
