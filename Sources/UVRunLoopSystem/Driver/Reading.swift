import CUVSupport

/// Reads what there is, without waiting.
///
/// A short read is copied: a caller that keeps it would keep the whole buffer otherwise.
///
/// - Parameters:
///   - descriptor: The descriptor.
///   - size: How many bytes to read at most.
///   - isShared: Whether it is a pipe or socket that may be blocking, and that others read, too.
/// - Returns: The bytes, and their number; or no bytes and zero at the end of the data, a negated
///   error number for an error.
func readBytes(
    of descriptor: CInt,
    upTo size: Int,
    isShared: Bool = false
) -> (bytes: [UInt8], result: Int) {
    var result = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        result =
            unsafe isShared
            ? cuv_read_now(descriptor, start, buffer.count)
            : cuv_read(descriptor, start, buffer.count)
        count = max(0, result)
    }
    guard bytes.count < size / 2 else { return (bytes, result) }
    return (unsafe bytes.withUnsafeBytes { unsafe Array($0) }, result)
}
