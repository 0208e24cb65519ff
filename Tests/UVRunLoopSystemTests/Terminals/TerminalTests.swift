import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias Terminal = UVRunLoop.Terminal

/// The modes of a pseudo-terminal.
@Suite(.timeLimit(.minutes(15))) struct TerminalTests {
    @Test func theModeIsSetAndPutBack() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let terminal = try Terminal(descriptor: pair.terminal)
            #expect(pair.echoes)
            try terminal.setRaw()
            #expect(!pair.echoes)
            try terminal.setNormal()
            #expect(pair.echoes)
            try terminal.setRaw()
            terminal.close()
            #expect(pair.echoes && !isNonBlocking(pair.terminal))
            #expect(throws: UVRunLoop.SystemError.self) { try terminal.setRaw() }
        }
    }

    @Test func aTerminalThatIsOpenedInRawModePutsBackWhatWasBefore() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let first = try Terminal(descriptor: pair.terminal)
            try first.setRaw()
            let second = try Terminal(descriptor: pair.terminal)
            first.close()
            second.close()
            #expect(pair.echoes)
        }
    }

    @Test func closingLeavesNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { loop in
                    let pair = TerminalPair()
                    func openAndClose() -> Int {
                        (try? Terminal(descriptor: pair.terminal))?.close()
                        loop.run(mode: .default, for: .zero)
                        return openDescriptorCount()
                    }
                    let before = openAndClose()
                    for _ in 0..<5 { _ = openAndClose() }
                    precondition(openAndClose() == before)
                }
            }
        }
    }

    @Test func theSizeIsTheTerminals() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            var size = winsize(ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0)
            #expect(ioctl(pair.terminal, UInt(TIOCSWINSZ), &size) == 0)
            let terminal = try Terminal(descriptor: pair.terminal)
            let found = try terminal.size()
            #expect(found.columns == 99 && found.rows == 33)
        }
    }

    @Test func keysArriveRaw() throws {
        try withLoop { loop in
            let pair = TerminalPair()
            let terminal = try Terminal(descriptor: pair.terminal)
            try terminal.setRaw()
            let input = try UVRunLoop.StandardInput(descriptor: pair.terminal) { source, event in
                // In the normal mode, nothing would come before the end of the line.
                #expect(event == .bytes([3]))
                source.invalidate()
            }
            loop.add(input, forMode: .default)
            #expect(write(pair.other, [3] as [UInt8], 1) == 1)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            terminal.close()
        }
    }

    @Test func otherDescriptorsThrow() {
        withLoop { _ in
            let pipe = Pipe()
            for number in [pipe.readEnd, -1] {
                do throws(UVRunLoop.SystemError) {
                    _ = try Terminal(descriptor: number)
                    Issue.record("This is no terminal.")
                } catch {
                    #expect(error.code == .notATerminal)
                }
            }
        }
    }

    @Test func aTerminalThatHasSetNothingPutsNothingBack() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let first = try Terminal(descriptor: pair.terminal)
            try first.setRaw()
            try Terminal(descriptor: pair.terminal).close()
            #expect(!pair.echoes)
            let second = try Terminal(descriptor: pair.terminal)
            try second.setRaw()
            second.close()
            #expect(!pair.echoes)
            first.close()
            #expect(pair.echoes)
        }
    }

    /// The other ends of pseudo-terminals are files with one device number.
    @Test func eachOfTwoTerminalsGetsItsOwnFlagsBack() throws {
        try withLoop { _ in
            let pairs = [TerminalPair(), TerminalPair()]
            pairs[1].change { $0.c_lflag &= ~tcflag_t(ISIG) }
            let before = pairs.map(\.localFlags)
            let terminals = try pairs.map { try Terminal(descriptor: $0.other) }
            for terminal in terminals { try terminal.setRaw() }
            #expect(!pairs[0].echoes && !pairs[1].echoes)
            terminals[0].close()
            #expect(pairs[0].localFlags == before[0] && !pairs[1].echoes)
            terminals[1].close()
            #expect(pairs[1].localFlags == before[1])
        }
    }

    @Test func bothEndsOfAPseudoTerminalAreOneTerminal() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let terminals = try [pair.terminal, pair.other].map { try Terminal(descriptor: $0) }
            for terminal in terminals { try terminal.setRaw() }
            terminals[0].close()
            #expect(!pair.echoes)
            terminals[1].close()
            #expect(pair.echoes)
        }
    }

    /// The second of them has found the raw mode of the first.
    @Test(arguments: [[0, 1], [1, 0]])
    func theLastOfTwoThatIsSetNormalLeavesTheModeFromBeforeBoth(order: [Int]) throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let terminals = try [pair.terminal, pair.other].map { try Terminal(descriptor: $0) }
            for terminal in terminals { try terminal.setRaw() }
            for number in order { try terminals[number].setNormal() }
            #expect(pair.echoes)
            // Other code may change the mode then.
            pair.change { $0.c_lflag &= ~tcflag_t(ECHO) }
            try terminals[0].setRaw()
            try terminals[0].setNormal()
            #expect(!pair.echoes)
            for terminal in terminals { terminal.close() }
            #expect(pair.echoes)
        }
    }

    @Test func aModeThatOtherCodeHasChangedIsSetAnew() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let terminal = try Terminal(descriptor: pair.terminal)
            try terminal.setRaw()
            pair.change { $0.c_lflag |= tcflag_t(ECHO | ICANON | ISIG) }
            try terminal.setRaw()
            #expect(!pair.echoes)
            try terminal.setRaw()
            terminal.close()
            #expect(pair.echoes)
        }
    }

    @Test func theEndOfTheThreadPutsTheModeBack() {
        let pair = TerminalPair()
        let terminal = SharedBox<Terminal?>(nil)
        onAnotherThread {
            terminal.value = try? Terminal(descriptor: pair.terminal)
            try? terminal.value?.setRaw()
            #expect(!pair.echoes)
        }
        #expect(pair.echoes)
    }

    /// Not in the process of other tests: `exit` waits for the pool's threads, which a forked child
    /// does not have.
    @Test func theExitOfTheProcessPutsTheModeBack() async {
        await #expect(processExitsWith: .success) {
            let pair = TerminalPair()
            let child = startChild {
                _ = try? openForGood(pair.terminal).setRaw()
                guard !pair.echoes else { return 1 }
                exit(7)
            }
            precondition(awaitEnd(of: child) == 7)
            precondition(pair.echoes)
        }
    }

    /// Whoever sets a mode finds the flags from before, or the terminal in use.
    @Test func threadsThatUseOneTerminalInTurnLeaveItAsItWas() {
        let pair = TerminalPair()
        let threads = (0..<2).map { _ in
            startThread {
                for _ in 0..<2_000 {
                    guard let terminal = try? Terminal(descriptor: pair.terminal),
                        (try? terminal.setRaw()) != nil
                    else {
                        Issue.record("The mode was not set.")
                        return
                    }
                    terminal.close()
                    UVRunLoop.current.run(mode: .default, for: .zero)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(pair.echoes)
    }

    /// The output of another thread, which nobody reads.
    @Test func aModeIsSetWhileAWriteWaits() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try withLoop { _ in
                let pair = TerminalPair()
                let terminal = try Terminal(descriptor: pair.terminal)
                let writer = startThread {
                    let output = [UInt8](repeating: 120, count: 65_536)
                    precondition(write(pair.terminal, output, output.count) == output.count)
                }
                // Until the buffer is full.
                precondition(awaitCondition(seconds: 50) { !pair.hasRoom })
                try terminal.setRaw()
                precondition(!pair.echoes)
                try terminal.setNormal()
                precondition(pair.echoes)
                var (left, bytes) = (65_536, [UInt8](repeating: 0, count: 65_536))
                while left > 0 { left -= read(pair.other, &bytes, left) }
                writer.join()
                terminal.close()
            }
        }
    }

    @Test func aModeThatIsSetDuringTheExitIsPutBackToo() async {
        await #expect(processExitsWith: .success) {
            let pair = TerminalPair()
            waitForALock()
            for _ in 0..<20 {
                let child = startChild(endingAfter: 60) {
                    let hasBegun = Signal()
                    _ = startThread {
                        let terminal = try? Terminal(descriptor: pair.terminal)
                        while let terminal, (try? terminal.setRaw()) != nil {
                            hasBegun.send()
                            try? terminal.setNormal()
                        }
                        while true { pause() }
                    }
                    hasBegun.wait()
                    exit(7)
                }
                precondition(awaitEnd(of: child) == 7)
                precondition(pair.echoes)
            }
        }
    }

    /// As where the terminal of another user or container is the standard input.
    @Test func aTerminalThatCannotBeOpenedOnceMoreStaysBlocking() throws {
        try withLoop { _ in
            let pair = TerminalPair()
            let readOnly = open("/dev/ptmx", O_RDONLY | O_NOCTTY | O_CLOEXEC)
            defer { close(readOnly) }
            let terminal = try Terminal(descriptor: readOnly)
            #expect(!isNonBlocking(readOnly) && pair.echoes)
            terminal.close()
            #expect(!isNonBlocking(readOnly))
        }
    }
}

/// Opens a terminal that is never released.
private func openForGood(_ descriptor: CInt) throws -> Terminal {
    let terminal = try Terminal(descriptor: descriptor)
    _ = Unmanaged.passRetained(terminal)
    return terminal
}
