/// Finds commands by name, case-insensitively and without making a string.
struct CommandIndex {
    private var commands: [UInt128: Command] = [:]

    init(_ commands: [Command]) {
        for command in commands {
            if let name = Self.pack(Array(command.name.utf8)[...]) { self.commands[name] = command }
        }
    }

    subscript(name: ArraySlice<UInt8>) -> Command? { Self.pack(name).flatMap { commands[$0] } }

    /// Up to sixteen letters packed into one number; no name is longer.
    private static func pack(_ name: ArraySlice<UInt8>) -> UInt128? {
        guard name.count <= 16 else { return nil }
        var packed: UInt128 = 0
        for byte in name { packed = packed << 8 | UInt128(byte.asciiLowercased) }
        return packed
    }
}
