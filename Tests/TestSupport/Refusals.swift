import Glibc

/// A system call that the kernel can be made to refuse.
package struct SystemCall: Sendable {
    let number: Int

    private init(x86: Int, arm: Int) {
        #if arch(x86_64)
        number = x86
        #else
        number = arm
        #endif
    }

    package static let compareProcesses = SystemCall(x86: 312, arm: 272)
    package static let epollControl = SystemCall(x86: 233, arm: 21)
    package static let epollWait = SystemCall(x86: 232, arm: 22)
    package static let epollWaitWithMask = SystemCall(x86: 281, arm: 22)
    package static let createEvent = SystemCall(x86: 290, arm: 19)
    package static let fileStatus = SystemCall(x86: 262, arm: 79)
    package static let listen = SystemCall(x86: 50, arm: 201)
    package static let read = SystemCall(x86: 0, arm: 63)
    package static let readWithFlags = SystemCall(x86: 327, arm: 286)
    package static let sendmsg = SystemCall(x86: 46, arm: 211)
    package static let sendmmsg = SystemCall(x86: 307, arm: 269)
    package static let sendto = SystemCall(x86: 44, arm: 206)
    package static let setTimer = SystemCall(x86: 286, arm: 86)
    package static let waitForProcess = SystemCall(x86: 247, arm: 95)
    package static let write = SystemCall(x86: 1, arm: 64)
}

/// Has the kernel refuse a system call to the calling thread and its children.
///
/// The thread can never undo it, so this is for processes of their own.
///
/// - Parameters:
///   - call: The system call.
///   - error: What the call fails with.
///   - arguments: The values that the call's arguments must have, by their positions.
package func refuse(
    _ call: SystemCall,
    with error: CInt = EPERM,
    where arguments: [Int: UInt32] = [:]
) {
    typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
    guard let symbol = dlsym(nil, "prctl") else { preconditionFailure("There is no prctl.") }
    let control = unsafeBitCast(symbol, to: Control.self)
    let (load, jumpIfEqual, end) = (UInt64(0x20), UInt64(0x15), UInt64(0x06))
    let (refused, allowed) = (UInt64(0x0005_0000) | UInt64(error), UInt64(0x7FFF_0000))
    // The number is at the start of what is examined, and the arguments follow the address.
    var conditions = [(offset: 0, value: UInt32(call.number))]
    conditions += arguments.map { (16 + 8 * $0, $1) }
    // An instruction is a code, how far to jump if it is so and if not, and an operand.
    var program: [UInt64] = []
    for (index, condition) in conditions.enumerated() {
        let toTheEnd = UInt64(2 * (conditions.count - index) - 1)
        program.append(load | UInt64(condition.offset) << 32)
        program.append(jumpIfEqual | toTheEnd << 24 | UInt64(condition.value) << 32)
    }
    program += [end | refused << 32, end | allowed << 32]
    program.withUnsafeBytes { instructions in
        var filter = (
            count: UInt(program.count), instructions: UInt(bitPattern: instructions.baseAddress)
        )
        let (noNewPrivileges, filterCalls, filterMode) = (CInt(38), CInt(22), UInt(2))
        precondition(control(noNewPrivileges, 1, 0, 0, 0) == 0)
        let status = withUnsafePointer(to: &filter) { filter in
            control(filterCalls, filterMode, UInt(bitPattern: filter), 0, 0)
        }
        precondition(status == 0, "The kernel has no filters of system calls.")
    }
}

/// Has the kernel refuse to add descriptors to epoll sets, as if its limit were reached.
///
/// - Parameter descriptor: The only descriptor; `nil` for all.
package func refuseWatching(_ descriptor: CInt? = nil) {
    let add: UInt32 = 1
    var arguments = [1: add]
    if let descriptor { arguments[2] = UInt32(descriptor) }
    refuse(.epollControl, with: ENOSPC, where: arguments)
}

/// Has the kernel refuse to read a descriptor, as if its device were broken.
package func refuseReading(_ descriptor: CInt) {
    refuse(.read, with: EIO, where: [0: UInt32(descriptor)])
}

/// Has the kernel refuse to send, as if it had no buffers.
package func refuseSending() {
    refuse(.sendto, with: ENOBUFS)
    refuse(.sendmsg, with: ENOBUFS)
}

/// Has the kernel refuse to set timerfds, as if it had no memory.
package func refuseSettingTimers() { refuse(.setTimer, with: ENOMEM) }
