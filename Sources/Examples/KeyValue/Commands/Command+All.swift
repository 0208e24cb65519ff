extension Command {
    /// All commands of this server.
    static let all = strings + keys + connections + administration

    private static let strings = [
        Command("get", 2, [.reads, .fast], .one, "Returns the value of a key.") { $0.get($1) },
        Command("set", -3, .writes, .one, "Gives a key a value.") { try $0.set($1) },
        Command("setnx", 3, [.writes, .fast], .one, "Gives a new key a value.") {
            $0.setIfNew($1)
        },
        Command("setex", 4, .writes, .one, "Gives a key a value for some seconds.") {
            try $0.setForTime($1, unit: .seconds)
        },
        Command("psetex", 4, .writes, .one, "Gives a key a value for some milliseconds.") {
            try $0.setForTime($1, unit: .milliseconds)
        },
        Command("mget", -2, [.reads, .fast], .all, "Returns the values of keys.") {
            $0.getSeveral($1)
        },
        Command("mset", -3, .writes, .everyOther, "Gives keys values.") { try $0.setSeveral($1) },
        Command("append", 3, [.writes, .fast], .one, "Adds bytes to a value.") {
            try $0.append($1)
        },
        Command("strlen", 2, [.reads, .fast], .one, "Returns the length of a value.") {
            $0.length($1)
        },
        Command("incr", 2, [.writes, .fast], .one, "Adds one to a number.") {
            try $0.increment($1)
        },
        Command("decr", 2, [.writes, .fast], .one, "Takes one from a number.") {
            try $0.decrement($1)
        },
        Command("incrby", 3, [.writes, .fast], .one, "Adds to a number.") {
            try $0.incrementBy($1)
        },
        Command("decrby", 3, [.writes, .fast], .one, "Takes from a number.") {
            try $0.decrementBy($1)
        },
    ]

    private static let keys = [
        Command("del", -2, .writes, .all, "Removes keys.") { $0.remove($1) },
        Command("unlink", -2, [.writes, .fast], .all, "Removes keys.") { $0.remove($1) },
        Command("exists", -2, [.reads, .fast], .all, "Counts which of the keys are there.") {
            $0.exists($1)
        },
        Command("type", 2, [.reads, .fast], .one, "Returns the kind of a value.") {
            $0.type($1)
        },
        Command("expire", -3, [.writes, .fast], .one, "Sets when a key expires, in seconds.") {
            try $0.expire($1, unit: .seconds)
        },
        Command("pexpire", -3, [.writes, .fast], .one, "Sets when a key expires, finely.") {
            try $0.expire($1, unit: .milliseconds)
        },
        Command("ttl", 2, [.reads, .fast], .one, "Returns the seconds that a key has left.") {
            $0.timeLeft($1, unit: .seconds)
        },
        Command("pttl", 2, [.reads, .fast], .one, "Returns the milliseconds that a key has left.") {
            $0.timeLeft($1, unit: .milliseconds)
        },
        Command("persist", 2, [.writes, .fast], .one, "Makes a key stay.") { $0.persist($1) },
        Command("keys", 2, .reads, .none, "Returns the keys that match a pattern.") {
            try $0.matchingKeys($1)
        },
        Command("scan", -2, .reads, .none, "Walks through all keys, some at a time.") {
            try $0.scan($1)
        },
        Command("dbsize", 1, [.reads, .fast], .none, "Returns how many keys there are.") {
            $0.countKeys($1)
        },
        Command("flushdb", -1, .writes, .none, "Removes all keys.") { try $0.removeAll($1) },
        Command("flushall", -1, .writes, .none, "Removes all keys.") { try $0.removeAll($1) },
    ]

    private static let connections = [
        Command("ping", -1, .fast, .none, "Answers PONG, or what was sent.") { try $0.ping($1) },
        Command("echo", 2, .fast, .none, "Answers what was sent.") { $0.echo($1) },
        Command("select", 2, .fast, .none, "Chooses a database: there is only number 0.") {
            try $0.select($1)
        },
        Command("auth", -2, .fast, .none, "Takes a password: none is set.") {
            try $0.authenticate($1)
        },
        Command("hello", -1, .fast, .none, "Agrees on a version of the protocol: it is 2.") {
            try $0.hello($1)
        },
        Command("client", -2, .admin, .none, "Returns or takes facts about a client.") {
            try $0.aboutClient($1)
        },
        Command("quit", -1, .fast, .none, "Ends the connection.") { $0.quit($1) },
    ]

    private static let administration = [
        Command("info", -1, .admin, .none, "Returns facts about the server.") { $0.info($1) },
        Command("config", -2, .admin, .none, "Returns settings of the server.") {
            try $0.settings($1)
        },
        Command("command", -1, .admin, .none, "Returns facts about commands.") {
            try $0.aboutCommands($1)
        },
        Command("save", 1, .admin, .none, "Writes all keys to a file.") { $0.save($1) },
        Command("shutdown", -1, .admin, .none, "Ends the server.") { try $0.shutDown($1) },
    ]
}
