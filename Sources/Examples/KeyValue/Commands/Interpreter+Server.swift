// Commands about the server: settings, INFO, saving, shutdown.

extension Interpreter {
    mutating func save(_ request: Request) { effect = .save }

    mutating func shutDown(_ request: Request) throws(CommandError) {
        switch request.count {
        case 1: effect = .shutDown(saving: nil)
        case 2 where request.isWord(1, "SAVE"): effect = .shutDown(saving: true)
        case 2 where request.isWord(1, "NOSAVE"): effect = .shutDown(saving: false)
        default: throw .syntax
        }
    }

    mutating func settings(_ request: Request) throws(CommandError) {
        guard request.isWord(1, "GET") else {
            throw .subcommand(of: "CONFIG", request.text(1))
        }
        guard request.count > 2 else { throw .wordCount(of: "config|get") }
        let patterns = (2..<request.count).map {
            GlobPattern(request[$0].map(\.asciiLowercased)[...])
        }
        var budget = GlobPattern.Budget()
        let wanted = facts.settings.filter { setting in
            patterns.contains { $0.matches(Array(setting.name.utf8), within: &budget) }
        }
        guard !budget.isSpent else { throw .pattern }
        reply.map(wanted.count, version: client.version)
        for (name, value) in wanted {
            reply.bulk(name)
            reply.bulk(value)
        }
    }

    // MARK: INFO

    mutating func info(_ request: Request) {
        let words = (1..<request.count).map { request.text($0).lowercased() }
        let isAll =
            words.isEmpty || !Set(words).isDisjoint(with: ["all", "default", "everything"])
        let sections = informationSections.filter { section in
            isAll || words.contains(section.name.lowercased())
        }
        let texts = sections.map { section in
            "# \(section.name)\r\n"
                + section.lines.map { "\($0.0):\($0.1)\r\n" }.joined()
        }
        reply.bulk(texts.joined(separator: "\r\n"))
    }

    private typealias Section = (name: String, lines: [(String, any CustomStringConvertible)])

    private var informationSections: [Section] {
        let age = max(now.milliseconds - facts.start.milliseconds, 0) / 1000
        let memory = facts.residentBytes()
        let keys = "keys=\(keyspace.count),expires=\(keyspace.expiringCount),avg_ttl=0"
        return [
            (
                "Server",
                [
                    ("redis_version", Facts.compatibleVersion), ("redis_mode", "standalone"),
                    ("server_name", "KeyValue"), ("process_id", facts.processID),
                    ("tcp_port", facts.port), ("uptime_in_seconds", age),
                    ("uptime_in_days", age / 86_400),
                ]
            ),
            (
                "Clients",
                [
                    ("connected_clients", facts.clients), ("maxclients", facts.mostClients),
                    ("blocked_clients", facts.waitingClients),
                ]
            ),
            (
                "Memory",
                [("used_memory", memory), ("used_memory_rss", memory)]
            ),
            (
                "Persistence",
                [
                    ("loading", 0), ("rdb_bgsave_in_progress", facts.isSaving ? 1 : 0),
                    ("rdb_last_save_time", facts.lastSave.milliseconds / 1000),
                    ("rdb_last_bgsave_status", facts.lastSaveFailed ? "err" : "ok"),
                ]
            ),
            (
                "Stats",
                [
                    ("total_connections_received", facts.connectionsReceived),
                    ("total_commands_processed", facts.commandsProcessed),
                    ("total_net_input_bytes", facts.bytesReceived),
                    ("total_net_output_bytes", facts.bytesSent),
                    ("rejected_connections", facts.connectionsRejected),
                    ("expired_keys", keyspace.expiredCount),
                ]
            ),
            ("Replication", [("role", "master"), ("connected_slaves", 0)]),
            ("Keyspace", keyspace.count == 0 ? [] : [("db0", keys)]),
        ]
    }
}
