import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct CommandTests {
    @Test func valuesAreKept() throws {
        var talker = Talker()
        #expect(try talker.say("GET k") == "$-1|")
        #expect(try talker.say("set k 'a value'") == "+OK|")
        #expect(try talker.say("GET k") == "$7|a value|")
        #expect(try talker.say("APPEND k !") == ":8|")
        #expect(try talker.say("STRLEN k") == ":8|")
        #expect(try talker.say("MSET a 1 b 2") == "+OK|")
        #expect(try talker.say("MGET a x b") == "*3|$1|1|$-1|$1|2|")
        #expect(try talker.say("EXISTS a a x") == ":2|")
        #expect(try talker.say("DEL a a x") == ":1|")
        #expect(try talker.say("DBSIZE") == ":2|")
        #expect(try talker.say("FLUSHDB") == "+OK|")
        #expect(try talker.say("DBSIZE") == ":0|")
    }

    @Test func oneCommandGetsNoMoreThanAClientMay() throws {
        var talker = Talker()
        talker.interpreter.facts.outputLimit = 100
        #expect(try talker.say("SET k 12345678901234567890") == "+OK|")
        _ = try talker.say("MGET k k k k k k k k k k k k k k k k k k k k")
        #expect(talker.interpreter.effect == .drop)
    }

    @Test func theThirdVersionHasItsOwnNullAndMap() throws {
        var talker = Talker()
        #expect(try talker.say("HELLO 3").hasPrefix("%7|$6|server|"))
        #expect(try talker.say("GET none") == "_|")
        #expect(try talker.say("MGET none") == "*1|_|")
        #expect(try talker.say("CONFIG GET databases") == "%1|$9|databases|$1|1|")
        #expect(try talker.say("HELLO 2").hasPrefix("*14|$6|server|"))
        #expect(try talker.say("GET none") == "$-1|")
    }

    @Test func setObeysItsOptions() throws {
        var talker = Talker()
        #expect(try talker.say("SET k 1 XX") == "$-1|")
        #expect(try talker.say("SET k 1 nx") == "+OK|")
        #expect(try talker.say("SET k 2 NX") == "$-1|")
        #expect(try talker.say("SET k 2 XX GET EX 10") == "$1|1|")
        #expect(try talker.say("TTL k") == ":10|")
        #expect(try talker.say("SET k 3 KEEPTTL") == "+OK|")
        #expect(try talker.say("PTTL k") == ":10000|")
        #expect(try talker.say("SET k 3") == "+OK|")
        #expect(try talker.say("TTL k") == ":-1|")
        #expect(try talker.say("SET k 3 PX 5") == "+OK|")
        talker.wait(milliseconds: 5)
        #expect(try talker.say("GET k") == "$-1|")
    }

    @Test(arguments: [
        ("SET k v NX XX", "-ERR syntax error|"),
        ("SET k v EX", "-ERR syntax error|"),
        ("SET k v EX 10 PX 10", "-ERR syntax error|"),
        ("SET k v EX 0", "-ERR invalid expire time in 'set' command|"),
        ("SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command|"),
        ("SET k v EX ten", "-ERR value is not an integer or out of range|"),
        ("EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command|"),
        ("GET", "-ERR wrong number of arguments for 'get' command|"),
        ("mset a 1 b", "-ERR wrong number of arguments for 'mset' command|"),
        ("PING a b", "-ERR wrong number of arguments for 'ping' command|"),
        ("nope a 'b c'", "-ERR unknown command 'nope', with args beginning with: 'a' 'b c' |"),
        ("SELECT 1", "-ERR DB index is out of range|"),
        ("SELECT 0", "+OK|"),
        ("SCAN x", "-ERR invalid cursor|"),
        ("SCAN 0 COUNT 0", "-ERR syntax error|"),
        ("CONFIG SET a b", "-ERR unknown subcommand 'SET'. Try CONFIG HELP.|"),
        ("HELLO 4", "-NOPROTO unsupported protocol version|"),
        ("AUTH default x", "+OK|"),
    ])
    func errorsReadAsRedisWritesThem(line: String, reply: String) throws {
        var talker = Talker()
        #expect(try talker.say(line) == reply)
    }

    @Test func numbersAreCounted() throws {
        var talker = Talker()
        #expect(try talker.say("INCR n") == ":1|")
        #expect(try talker.say("INCRBY n 41") == ":42|")
        #expect(try talker.say("DECR n") == ":41|")
        #expect(try talker.say("DECRBY n 50") == ":-9|")
        #expect(try talker.say("GET n") == "$2|-9|")
        #expect(try talker.say("SET n 9223372036854775807") == "+OK|")
        #expect(try talker.say("INCR n") == "-ERR increment or decrement would overflow|")
        #expect(try talker.say("SET n 01") == "+OK|")
        #expect(try talker.say("INCR n") == "-ERR value is not an integer or out of range|")
    }

    @Test func expiryIsSetShownAndTakenBack() throws {
        var talker = Talker()
        #expect(try talker.say("EXPIRE k 10") == ":0|")
        #expect(try talker.say("TTL k") == ":-2|")
        #expect(try talker.say("SET k v") == "+OK|")
        #expect(try talker.say("PEXPIRE k 1500") == ":1|")
        #expect(try talker.say("TTL k") == ":2|")
        #expect(try talker.say("EXPIRE k 1 GT") == ":0|")
        #expect(try talker.say("EXPIRE k 5 GT") == ":1|")
        #expect(try talker.say("PERSIST k") == ":1|")
        #expect(try talker.say("PERSIST k") == ":0|")
        #expect(try talker.say("EXPIRE k -1") == ":1|")
        #expect(try talker.say("EXISTS k") == ":0|")
    }

    @Test func keysAreFoundByPatternAndByWalking() throws {
        var talker = Talker()
        #expect(try talker.say("MSET ab 1 ac 2 b 3") == "+OK|")
        #expect(try talker.say("KEYS a?") == "*2|$2|ab|$2|ac|")
        #expect(try talker.say("SCAN 0 MATCH b COUNT 1000") == "*2|$1|0|*1|$1|b|")
        #expect(try talker.say("SCAN 0 TYPE list COUNT 1000") == "*2|$1|0|*0|")
        #expect(try talker.say("SCAN 0 COUNT 1").hasPrefix("*2|$1|1|*1|"))
    }

    @Test func aClientIsTalkedToAboutItself() throws {
        var talker = Talker()
        #expect(try talker.say("PING") == "+PONG|")
        #expect(try talker.say("PING hi") == "$2|hi|")
        #expect(try talker.say("ECHO hi") == "$2|hi|")
        #expect(try talker.say("HELLO 2 SETNAME me").hasPrefix("*14|$6|server|$5|redis|"))
        #expect(try talker.say("CLIENT GETNAME") == "$2|me|")
        #expect(try talker.say("CLIENT SETINFO lib-name x") == "+OK|")
        #expect(try talker.say("CLIENT ID") == ":0|")
    }

    @Test func theServerIsAskedAboutItself() throws {
        var talker = Talker()
        #expect(try talker.say("CONFIG GET maxcl*") == "*2|$10|maxclients|$5|10000|")
        #expect(try talker.say("INFO").contains("# Server|redis_version:"))
        #expect(try talker.say("INFO keyspace") == "$12|# Keyspace||")
        #expect(try talker.say("COMMAND COUNT") == ":\(Command.all.count)|")
        #expect(try talker.say("COMMAND INFO get nope").hasPrefix("*2|*10|$3|get|:2|"))
        #expect(try talker.say("COMMAND INFO get nope").hasSuffix("|$-1|"))
        #expect(try talker.say("COMMAND DOCS get").hasPrefix("*2|$3|get|*6|"))
    }

    @Test func whatOnlyTheServerCanDoIsAskedOfIt() throws {
        var talker = Talker()
        #expect(try talker.say("SAVE") == "")
        #expect(talker.interpreter.effect == .save)
        #expect(try talker.say("SHUTDOWN NOSAVE") == "")
        #expect(talker.interpreter.effect == .shutDown(saving: false))
        #expect(try talker.say("QUIT") == "+OK|")
        #expect(talker.interpreter.effect == .close)
        #expect(try talker.say("POST / HTTP/1.1").hasPrefix("-ERR unknown command"))
        #expect(talker.interpreter.effect == .close)
        #expect(try talker.say("PING") == "+PONG|")
        #expect(talker.interpreter.effect == .none)
    }
}
