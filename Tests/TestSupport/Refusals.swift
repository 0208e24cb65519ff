import Glibc

/// Has the kernel refuse a system call to the calling thread and its children, with `EPERM`.
///
/// The thread can never undo it, so this is for processes of their own.
package func refuse(systemCall number: Int) {
    typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
    guard let symbol = dlsym(nil, "prctl") else { preconditionFailure("There is no prctl.") }
    let control = unsafeBitCast(symbol, to: Control.self)
    let (load, jumpIfEqual, end) = (UInt64(0x20), UInt64(0x15), UInt64(0x06))
    let (refused, allowed) = (UInt64(0x0005_0001), UInt64(0x7FFF_0000))
    // An instruction is a code, how far to jump if it is so and if not, and an operand.
    let program: [UInt64] = [
        load,
        jumpIfEqual | 1 << 24 | UInt64(number) << 32,
        end | refused << 32,
        end | allowed << 32,
    ]
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
