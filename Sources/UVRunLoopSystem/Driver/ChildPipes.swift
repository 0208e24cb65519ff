import CUV
import CUVSupport
import UVRunLoop

/// The pipes of a child that is being started.
struct ChildPipes: ~Copyable {
    private typealias Stream = UVRunLoop.ChildProcess.Configuration.Stream
    private typealias Ends = InlineArray<3, Descriptor?>

    /// The child's standard descriptors; `nil` for the null device.
    private(set) var childEnds: [CInt?] = []
    /// This process's ends of the pipes, by the number of the child's descriptor.
    private var ownEnds = Ends { _ in nil }
    /// The child's ends of the pipes, of which it gets copies.
    private var lentEnds = Ends { _ in nil }

    /// Checks the descriptors that are given by number, before anything is opened, which may take
    /// the number of one that is closed.
    static func check(
        _ configuration: UVRunLoop.ChildProcess.Configuration
    ) throws(UVError) {
        for stream in [configuration.input, configuration.output, configuration.errorOutput] {
            guard case .descriptor(let descriptor) = stream.kind else { continue }
            guard descriptor >= 0, cuv_file_flags(descriptor) >= 0 else { throw .badDescriptor }
        }
    }

    /// Opens the pipes.
    ///
    /// - Throws: The error of the system; no pipe is open then.
    init(_ configuration: UVRunLoop.ChildProcess.Configuration) throws(UVError) {
        let streams = [configuration.input, configuration.output, configuration.errorOutput]
        for (number, stream) in streams.enumerated() { try open(stream.kind, for: number) }
    }

    private mutating func open(_ kind: Stream.Kind, for number: Int) throws(UVError) {
        switch kind {
        case .null: childEnds.append(nil)
        case .inherited:
            let isOpen = cuv_file_flags(CInt(number)) >= 0
            childEnds.append(isOpen ? CInt(number) : nil)
        case .descriptor(let descriptor): childEnds.append(descriptor)
        case .pipe:
            let writes = number == 0
            var ends: [CInt] = [-1, -1]
            try accepted(unsafe cuv_pipe_open(&ends, writes ? 1 : 0))
            let (own, child) = writes ? (ends[1], ends[0]) : (ends[0], ends[1])
            let lentEnd = Descriptor(owning: child)
            ownEnds[number] = try Descriptor(opened: own)
            let lent = try StandardDescriptors.avoided(by: lentEnd)
            childEnds.append(lent.number)
            lentEnds[number] = consume lent
        }
    }

    /// Hands over this process's end of a pipe.
    mutating func takeOwnEnd(_ number: Int) -> Descriptor? { ownEnds[number].take() }

    /// Closes the child's ends, once the child has its copies.
    consuming func close() {}
}
