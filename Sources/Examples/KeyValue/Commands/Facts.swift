/// The server's state as INFO and CONFIG GET report it.
struct Facts {
    /// The version of Redis whose replies are reproduced; client libraries check it.
    static let compatibleVersion = "7.0.0"

    // Fixed values.
    var processID = 0
    var port = 0
    var address = ""
    var socketPath = ""
    var directory = ""
    var fileName = ""
    var mostClients = 10_000
    var outputLimit = 256 << 20
    var start = WallTime(milliseconds: 0)

    // Counters.
    var clients = 0
    var waitingClients = 0
    var connectionsReceived = 0
    var connectionsRejected = 0
    var commandsProcessed = 0
    var bytesReceived = 0
    var bytesSent = 0
    var isSaving = false
    var lastSave = WallTime(milliseconds: 0)
    var lastSaveFailed = false
    /// Measures the process's resident memory.
    var residentBytes: @Sendable () -> Int = { 0 }

    /// The settings, sorted by name, as CONFIG GET reports them.
    var settings: [(name: String, value: String)] {
        let limits = RequestParser.Limits()
        return [
            ("appendonly", "no"),
            ("bind", address),
            ("client-output-buffer-limit", "normal \(outputLimit) 0 0"),
            ("client-query-buffer-limit", String(limits.query)),
            ("databases", "1"),
            ("dbfilename", fileName),
            ("dir", directory),
            ("maxclients", String(mostClients)),
            ("maxmemory", "0"),
            ("port", String(port)),
            ("proto-max-bulk-len", String(limits.word)),
            ("save", ""),
            ("timeout", "0"),
            ("unixsocket", socketPath),
        ]
    }
}
