import CUVSupport
internal import UVLibc
import UVRunLoop

/// Reads from a descriptor that it does not own, such as the standard input, when it is ready.
///
/// > Threading: Reading is for the loop's thread.
final class InputReader: Sendable {
    typealias Event = UVRunLoop.StandardInput.Event

    private static let chunkSize = 65_536
    private static let readable = CInt(cuv_poll_in | cuv_poll_hang_up | cuv_poll_error)

    private let descriptor: CInt
    /// Watched instead of a file.
    private let standIn: FileStandIn?
    private let isTerminal: Bool
    private let state = Guarded(State())

    private struct State {
        weak var link: UVRunLoop.PortLink?
        /// Whether the descriptor is not watched, because an event waits that nobody took.
        var isPaused = false
        /// Whether the end was delivered, or a failure; a task may not have taken it yet.
        var isOver = false
    }

    /// The descriptor to watch.
    var watched: CInt { standIn?.descriptor ?? descriptor }

    init(_ descriptor: CInt) throws(UVRunLoop.SystemError) {
        self.descriptor = descriptor
        isTerminal = cuv_terminal_number(descriptor) >= 0
        let flags = fcntl(descriptor, F_GETFL)
        // It would never be ready.
        guard flags < 0 || flags & O_ACCMODE != O_WRONLY else {
            throw UVRunLoop.SystemError(.open, .invalidArgument)
        }
        do {
            standIn = try DescriptorProbe.check(descriptor, isReadOnly: true)
        } catch {
            throw UVRunLoop.SystemError(.open, error)
        }
    }

    /// Closes what is watched instead of a file; no loop watches it any more.
    func close() { standIn?.close() }

    func attach(_ link: UVRunLoop.PortLink) { state.withLock { $0.link = link } }

    /// Reads what there is.
    ///
    /// A blocking descriptor is read only if that does not block: another reader may have taken the
    /// data. Between the check and the read of a terminal, one still may.
    func take() -> Event? {
        guard !state.withLock(\.isOver) else { return nil }
        let condition = cuv_condition(descriptor)
        guard condition < 0 || condition & Self.readable != 0 else { return nil }
        if isTerminal, cuv_terminal_interrupts(descriptor, SIGTTIN) != 0 { return nil }
        let (bytes, length) = readBytes(
            of: descriptor,
            upTo: Self.chunkSize,
            isShared: standIn == nil && !isTerminal
        )
        standIn?.hangUpAtEnd()
        if length > 0 { return .bytes(bytes) }
        guard length != -Int(EAGAIN) else { return nil }
        if length < 0 { return fail(UVError(rawValue: CInt(length))) }
        state.withLock { $0.isOver = true }
        return .ended
    }

    /// Returns the event of a failure; `nil` after the last event.
    func fail(_ error: UVError) -> Event? {
        state.withLock { state in
            exchange(&state.isOver, with: true)
                ? nil : .failed(UVRunLoop.SystemError(.read, error))
        }
    }

    /// Stops to watch the descriptor until an event was taken.
    ///
    /// - Parameter isWaiting: Whether the event still waits for somebody. One that is taken at the
    ///   same time may be missed by the pause or by this question, not by both.
    func pause(while isWaiting: () -> Bool) {
        setPaused(true)
        if !isWaiting() { resume() }
    }

    func resume() { setPaused(false) }

    /// Watches the descriptor again after a hang-up, which is reported once, if the end was not
    /// read yet.
    ///
    /// A socket that was reset has data before its error, and a pipe may get another writer.
    func readOn() {
        let link = state.withLock { $0.isOver || $0.isPaused ? nil : $0.link }
        link?.setEvents { interest }
    }

    private var interest: UVRunLoop.DescriptorEvents {
        state.withLock(\.isPaused) ? [] : .readable
    }

    private func setPaused(_ isPaused: Bool) {
        let link = state.withLock { state -> UVRunLoop.PortLink? in
            guard state.isPaused != isPaused else { return nil }
            state.isPaused = isPaused
            return state.link
        }
        // The last of two threads that are here at once sets what holds then.
        link?.setEvents { interest }
    }
}
