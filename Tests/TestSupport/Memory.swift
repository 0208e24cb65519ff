import Glibc

/// Whether the system gives a process so much memory as long as it is not touched.
package func hasMemory(for byteCount: Int) -> Bool {
    let memory = malloc(byteCount)
    free(memory)
    return memory != nil
}
