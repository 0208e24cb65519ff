import Injection

/// One call of one operation that fails.
struct Fault: Sendable {
    let operation: Operation
    let call: CInt
    /// Which call of the function, from 1 on.
    let index: Int
    let error: CInt
    /// Whether all later calls fail too.
    let lasts: Bool

    var callName: String { String(cString: fault_call_name(call)) }
    var errorName: String { String(cString: fault_error_name(error)) }

    /// How it is named on the command line.
    var name: String {
        "\(operation.name):\(callName):\(index):\(errorName)\(lasts ? ":lasting" : "")"
    }

    /// Finds the fault of a name.
    init?(_ name: String) {
        let parts = name.split(separator: ":").map(String.init)
        guard parts.count == 4 || parts.count == 5 && parts[4] == "lasting",
            let operation = Operation.all.first(where: { $0.name == parts[0] }),
            let call = (0..<fault_call_count()).first(where: {
                String(cString: fault_call_name($0)) == parts[1]
            }),
            let index = Int(parts[2]), index > 0,
            let error = Self.errors(of: call).first(where: {
                String(cString: fault_error_name($0)) == parts[3]
            })
        else { return nil }
        self.init(operation, call, index, error, lasts: parts.count == 5)
    }

    init(_ operation: Operation, _ call: CInt, _ index: Int, _ error: CInt, lasts: Bool) {
        self.operation = operation
        self.call = call
        self.index = index
        self.error = error
        self.lasts = lasts
    }

    /// Whether the kernel could do that.
    ///
    /// Data that it reports as ready may be used up by others, a connection may break before it is
    /// accepted, and a file that was just made may be removed: but none of that for ever.
    var isPossible: Bool {
        guard lasts else { return true }
        return !["EAGAIN", "ECONNABORTED"].contains(errorName)
            && !(callName == "lstat" && errorName == "ENOENT")
    }

    /// The errors that a function can have.
    static func errors(of call: CInt) -> [CInt] {
        var errors: [CInt] = []
        while case let error = fault_error(call, CInt(errors.count)), error != 0 {
            errors.append(error)
        }
        return errors
    }
}
