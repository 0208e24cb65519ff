import Glibc

/// Has a body decide about system calls of the calling thread, one by one.
///
/// The thread can never undo it, so this is for processes of their own.
///
/// - Parameters:
///   - calls: The system calls.
///   - outcome: Called on another thread, which must not make such calls: the error with which a
///     call fails, or 0 to have the kernel carry it out.
package func intercept(_ calls: [SystemCall], _ outcome: @escaping @Sendable () -> CInt) {
    typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
    typealias Call = @convention(c) (Int, UInt, UInt, UInt) -> Int
    guard let prctl = dlsym(nil, "prctl"), let syscall = dlsym(nil, "syscall") else {
        preconditionFailure("The C library has no system calls.")
    }
    let noNewPrivileges: CInt = 38
    let status = unsafeBitCast(prctl, to: Control.self)(noNewPrivileges, 1, 0, 0, 0)
    precondition(status == 0)
    let listener = program(for: calls).withUnsafeBytes { instructions in
        var filter = (
            count: UInt(instructions.count / 8),
            instructions: UInt(bitPattern: instructions.baseAddress)
        )
        return withUnsafePointer(to: &filter) { filter in
            let (setFilter, newListener) = (UInt(1), UInt(8))
            return unsafeBitCast(syscall, to: Call.self)(
                filterCall,
                setFilter,
                newListener,
                UInt(bitPattern: filter)
            )
        }
    }
    precondition(listener >= 0, "The kernel has no notifications of system calls: \(errno).")
    startThread { decide(CInt(listener), outcome) }.detach()
}

#if arch(x86_64)
private let filterCall = 317
#else
private let filterCall = 277
#endif

/// A filter that notifies of some calls and allows all others.
///
/// An instruction is a code, how far to jump if it is so and if not, and an operand.
private func program(for calls: [SystemCall]) -> [UInt64] {
    let (load, jumpIfEqual, end) = (UInt64(0x20), UInt64(0x15), UInt64(0x06))
    let jumps = calls.enumerated().map { index, call in
        jumpIfEqual | UInt64(calls.count - index) << 16 | UInt64(call.number) << 32
    }
    let (allowed, notified) = (UInt64(0x7FFF_0000), UInt64(0x7FC0_0000))
    return [load] + jumps + [end | allowed << 32, end | notified << 32]
}

/// Decides about calls for as long as the process lives.
private func decide(_ listener: CInt, _ outcome: () -> CInt) {
    typealias Control = @convention(c) (CInt, UInt, UInt) -> CInt
    guard let symbol = dlsym(nil, "ioctl") else { preconditionFailure("There is no ioctl.") }
    let ioctl = unsafeBitCast(symbol, to: Control.self)
    let (receive, respond) = (UInt(0xC050_2100), UInt(0xC018_2101))
    while true {
        // It begins with the number of the notification.
        var notification = [UInt64](repeating: 0, count: 10)
        let status = notification.withUnsafeMutableBytes {
            ioctl(listener, receive, UInt(bitPattern: $0.baseAddress))
        }
        guard status == 0 else { continue }
        let error = outcome()
        let (failure, goOn) = (UInt64(UInt32(bitPattern: -error)), UInt64(1) << 32)
        let response = [notification[0], 0, error == 0 ? goOn : failure]
        response.withUnsafeBytes {
            _ = ioctl(listener, respond, UInt(bitPattern: $0.baseAddress))
        }
    }
}
