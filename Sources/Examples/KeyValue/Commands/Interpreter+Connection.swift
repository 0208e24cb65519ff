// Commands about the connection itself.

extension Interpreter {
    mutating func ping(_ request: Request) throws(CommandError) {
        switch request.count {
        case 1: reply.status("PONG")
        case 2: reply.bulk(request[1])
        default: throw .wordCount(of: "ping")
        }
    }

    mutating func echo(_ request: Request) { reply.bulk(request[1]) }

    mutating func quit(_ request: Request) {
        reply.ok()
        effect = .close
    }

    mutating func select(_ request: Request) throws(CommandError) {
        guard try request.integer(1) == 0 else { throw .database }
        reply.ok()
    }

    /// No password is set, so any client may be the default user, and there is no other.
    mutating func authenticate(_ request: Request) throws(CommandError) {
        switch request.count {
        case 2: throw .noPassword
        case 3: try checkUser(request, 1)
        default: throw .syntax
        }
        reply.ok()
    }

    private func checkUser(_ request: Request, _ word: Int) throws(CommandError) {
        guard request[word].elementsEqual("default".utf8) else { throw .wrongPassword }
    }

    /// Describes the server, and selects the protocol version that the client requests.
    ///
    /// Of version 3 only null and map replies are used; nothing else in it differs here.
    mutating func hello(_ request: Request) throws(CommandError) {
        var wanted = client.version
        if request.count > 1 {
            guard let version = request[1].decimalInteger else {
                return reply.error("ERR Protocol version is not an integer or out of range")
            }
            guard 2...3 ~= version else { throw .protocolVersion }
            wanted = version
        }
        var word = 2
        while word < request.count {
            if request.isWord(word, "AUTH"), word + 2 < request.count {
                try checkUser(request, word + 1)
                word += 3
            } else if request.isWord(word, "SETNAME"), word + 1 < request.count {
                try setClientName(request, word + 1)
                word += 2
            } else {
                return reply.error(
                    "ERR Syntax error in HELLO option '\(request.text(word).prefix(128))'"
                )
            }
        }
        client.version = wanted
        reply.map(7, version: wanted)
        reply.bulk("server")
        reply.bulk("redis")
        reply.bulk("version")
        reply.bulk(Facts.compatibleVersion)
        reply.bulk("proto")
        reply.integer(wanted)
        reply.bulk("id")
        reply.integer(client.number)
        reply.bulk("mode")
        reply.bulk("standalone")
        reply.bulk("role")
        reply.bulk("master")
        reply.bulk("modules")
        reply.array(0)
    }

    // MARK: CLIENT

    mutating func aboutClient(_ request: Request) throws(CommandError) {
        if request.isWord(1, "ID") {
            try check(request, words: 2, "client|id")
            reply.integer(client.number)
        } else if request.isWord(1, "SETINFO") {
            try check(request, words: 4, "client|setinfo")
            guard request.isWord(2, "LIB-NAME") || request.isWord(2, "LIB-VER") else {
                return reply.error("ERR Unrecognized option '\(request.text(2).prefix(128))'")
            }
            reply.ok()
        } else if request.isWord(1, "SETNAME") {
            try check(request, words: 3, "client|setname")
            try setClientName(request, 2)
            reply.ok()
        } else if request.isWord(1, "GETNAME") {
            try check(request, words: 2, "client|getname")
            if client.name.isEmpty {
                reply.null(version: client.version)
            } else {
                reply.bulk(client.name)
            }
        } else {
            throw .subcommand(of: "CLIENT", request.text(1))
        }
    }

    private mutating func setClientName(
        _ request: Request,
        _ word: Int
    ) throws(CommandError) {
        guard request[word].allSatisfy({ 33...126 ~= $0 }) else { throw .clientName }
        client.name = Array(request[word])
    }

    /// Checks the number of words of a subcommand.
    func check(
        _ request: Request,
        words: Int,
        _ name: String
    ) throws(CommandError) {
        guard request.count == words else { throw .wordCount(of: name) }
    }
}
