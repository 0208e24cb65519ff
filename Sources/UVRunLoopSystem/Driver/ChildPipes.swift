import CUV
import CUVSupport
import UVRunLoop

/// The pipes of a child that is being started.
struct ChildPipes: ~Copyable {
    private typealias Stream = UVRunLoop.ChildProcess.Configuration.Stream

    /// The child's standard descriptors; `nil` for the null device.
    private(set) var childEnds: [CInt?] = []
    /// This process's ends of the pipes, by the number of the child's descriptor.
    private var ownEnds: [CInt?] = []
    /// What is to be closed when the child has been started.
    private var copies: [CInt] = []

    /// Opens the pipes.
    ///
    /// - Throws: The error of the system; no pipe is open then.
    init(_ configuration: UVRunLoop.ChildProcess.Configuration) throws(UVError) {
        let streams = [configuration.input, configuration.output, configuration.errorOutput]
        for (number, stream) in streams.enumerated() {
            do {
                try open(stream.kind, for: CInt(number))
            } catch {
                closeAll()
                throw error
            }
        }
    }

    private mutating func open(_ kind: Stream.Kind, for number: CInt) throws(UVError) {
        var own: CInt?
        switch kind {
        case .null: childEnds.append(nil)
        case .inherited: childEnds.append(number)
        case .descriptor(let descriptor):
            guard descriptor >= 0, cuv_file_flags(descriptor) >= 0 else { throw .badDescriptor }
            childEnds.append(descriptor)
        case .pipe:
            let pipe = try openPipe(writes: number == 0)
            copies.append(pipe.child)
            childEnds.append(pipe.child)
            own = pipe.own
        }
        ownEnds.append(own)
    }

    private func openPipe(writes: Bool) throws(UVError) -> (own: CInt, child: CInt) {
        var ends: [CInt] = [-1, -1]
        try accepted(unsafe cuv_pipe_open(&ends, writes ? 1 : 0))
        return writes ? (ends[1], ends[0]) : (ends[0], ends[1])
    }

    /// Hands over this process's end of a pipe.
    mutating func takeOwnEnd(_ number: Int) -> CInt? { ownEnds[number].take() }

    /// Closes the child's ends, of which the child has copies.
    mutating func closeChildEnds() {
        for copy in copies { cuv_close(copy) }
        copies = []
    }

    /// Closes whatever is still open.
    mutating func closeAll() {
        closeChildEnds()
        for end in ownEnds { if let end { cuv_close(end) } }
        ownEnds = []
    }
}
