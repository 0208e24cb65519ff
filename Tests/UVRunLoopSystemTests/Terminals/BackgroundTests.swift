import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias Terminal = UVRunLoop.Terminal

/// Processes that share a controlling terminal, which one of their groups has in its foreground.
@Suite(.timeLimit(.minutes(15))) struct BackgroundTests {
    @Test func theControllingTerminalByItsNameIsTheSameTerminal() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inSession: { pair in
                let own = open("/dev/tty", O_RDWR | O_CLOEXEC)
                let first = try Terminal(descriptor: pair.terminal)
                let second = try Terminal(descriptor: own)
                try first.setRaw()
                try second.setRaw()
                first.close()
                precondition(!pair.echoes)
                second.close()
                precondition(pair.echoes)
            })
        }
    }

    @Test func aModeThatIsSetInTheBackgroundCallsTheSourceOfItsSignal() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackground: setModeOfAnotherJob)
        }
    }

    /// As of `sh -c 'program; true' &`.
    @Test func soDoesOneThatIsSetBehindAShellInTheBackground() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackgroundBehindShell: setModeOfAnotherJob)
        }
    }

    /// Which nobody would continue.
    @Test func anOrphanedGroupGetsTheKernelsError() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inOrphanedGroup: expectKernelsError)
        }
    }

    /// As of `(sh -c 'program; true' &)`.
    @Test func soDoesOneWithAShellInIt() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inOrphanedGroupBehindShell: expectKernelsError)
        }
    }

    /// The kernel would stop it with its job.
    @Test func aModeThatAProcessWithoutAParentSetsCallsTheSourceOfItsSignal() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackgroundWithoutParent: setModeOfAnotherJob)
        }
    }

    @Test func toPutBackWhatWasNotSetIsNoUseOfTheTerminal() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackground: { pair in
                let source = try UVRunLoop.SignalSource(SIGTTOU) { _, _ in }
                UVRunLoop.current.add(source, forMode: .default)
                try Terminal(descriptor: pair.terminal).setNormal()
            })
        }
    }

    /// The flags are the foreground's by then.
    @Test func aProcessInTheBackgroundPutsNothingBack() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackground: { pair in
                // Its handler would be called for ever.
                let source = try UVRunLoop.SignalSource(SIGTTOU) { _, _ in }
                UVRunLoop.current.add(source, forMode: .default)
                let terminal = try Terminal(descriptor: pair.terminal)
                pair.moveToForeground(getpgrp())
                try terminal.setRaw()
                pair.moveToForeground(getpgid(getppid()))
                terminal.close()
                precondition(!pair.echoes && source.isValid)
            })
        }
    }

    @Test func inputInTheBackgroundCallsTheSourceOfItsSignal() async {
        await #expect(processExitsWith: .success) {
            expectSuccess(inBackground: { pair in
                let (loop, log) = (UVRunLoop.current, EventLog())
                let source = try UVRunLoop.SignalSource(SIGTTIN) { source, _ in
                    log.note("signal")
                    pair.moveToForeground(getpgrp())
                    source.invalidate()
                }
                let input = try UVRunLoop.StandardInput(descriptor: pair.terminal) { input, event in
                    log.note("\(event)")
                    input.invalidate()
                }
                loop.add(source, forMode: .default)
                loop.add(input, forMode: .default)
                precondition(write(pair.other, "x\n", 2) == 2)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(log.entries == ["signal", "bytes([120, 10])"], "\(log.entries)")
            })
        }
    }
}

private func expectKernelsError(_ pair: TerminalPair) throws {
    let source = try UVRunLoop.SignalSource(SIGTTOU) { _, _ in }
    UVRunLoop.current.add(source, forMode: .default)
    let terminal = try Terminal(descriptor: pair.terminal)
    precondition(errorOfSettingRaw(terminal)?.description.contains("EIO") == true)
    precondition(pair.echoes)
}

private func setModeOfAnotherJob(_ pair: TerminalPair) throws {
    let loop = UVRunLoop.current
    let source = try UVRunLoop.SignalSource(SIGTTOU) { source, _ in source.invalidate() }
    loop.add(source, forMode: .default)
    let terminal = try Terminal(descriptor: pair.terminal)
    precondition(errorOfSettingRaw(terminal)?.code == .inBackground)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
}

private func errorOfSettingRaw(_ terminal: Terminal) -> UVRunLoop.SystemError? {
    do throws(UVRunLoop.SystemError) {
        try terminal.setRaw()
        return nil
    } catch {
        return error
    }
}
