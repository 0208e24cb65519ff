import Glibc
import UVRunLoop

/// What reading a stream brought.
enum StreamInput<Bytes> {
    case bytes(Bytes)
    /// The peer sends no more.
    case end
    case wouldBlock
}

extension Descriptor {
    /// Reads once, through a buffer that all ports share; what is left comes with the next call.
    ///
    /// - Parameter body: Lent what came, if something did.
    /// - Returns: What the body made of it.
    /// - Throws: What the system says against it.
    @inline(__always)
    func read<Result>(_ body: (RawSpan) -> Result) throws(UVError) -> StreamInput<Result> {
        let number = number
        return unsafe try ReadBuffer.lend { buffer throws(UVError) in
            let count = try completingUnlessBlocked {
                unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
            }
            guard let count else { return .wouldBlock }
            return unsafe count == 0
                ? .end : .bytes(body(UnsafeRawBufferPointer(buffer).bytes.extracting(first: count)))
        }
    }

    /// Reads once and copies what came.
    func read() throws(UVError) -> StreamInput<[UInt8]> {
        try read { $0.copy(0..<$0.byteCount) }
    }

    /// Reads once, behind what the caller has.
    ///
    /// It answers how many bytes came: 0 when the peer sends no more, `nil` when none are there
    /// yet.
    func read(
        appendingTo bytes: inout [UInt8],
        atMost limit: Int = ReadBuffer.size
    ) throws(UVError) -> Int? {
        let number = number
        return unsafe try ReadBuffer.lend { buffer throws(UVError) in
            let count = try completingUnlessBlocked {
                unsafe Glibc.read(number, buffer.baseAddress, min(limit, buffer.count))
            }
            if let count { unsafe bytes.append(contentsOf: buffer[..<count]) }
            return count
        }
    }

    /// Sends what the socket takes, without a signal when the peer is gone.
    ///
    /// It answers how many bytes it took; `nil` when there is no room.
    func send(_ bytes: RawSpan) throws(UVError) -> Int? {
        let number = number
        let outcome: Result<Int?, UVError> = unsafe bytes.withUnsafeBytes { buffer in
            Self.outcome { () throws(UVError) in
                try completingUnlessBlocked {
                    unsafe Glibc.send(
                        number,
                        buffer.baseAddress,
                        buffer.count,
                        CInt(MSG_NOSIGNAL)
                    )
                }
            }
        }
        return try outcome.get()
    }

    /// Sends what the socket takes of a piece, as ``send(_:)-(RawSpan)`` does.
    func send(_ bytes: ArraySlice<UInt8>) throws(UVError) -> Int? {
        unsafe try send(bytes.span.bytes)
    }

    /// Sends what the socket takes, as ``send(_:)-(RawSpan)`` does.
    func send(_ source: borrowing WordsAndPieces) throws(UVError) -> Int? {
        unsafe try source.withBytes { bytes in
            Result { () throws(UVError) in try send(unsafe bytes.bytes) }
        }.get()
    }

    /// The most pieces that one call sends.
    static let mostPieces = 16

    /// Sends what the socket takes of several pieces, in one call and in order; those after the
    /// first ``mostPieces`` are left for the next.
    ///
    /// It answers how many bytes it took; `nil` when there is no room.
    func send(_ pieces: [ArraySlice<UInt8>]) throws(UVError) -> Int? {
        unsafe try withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.mostPieces) {
            vectors -> Result<Int?, UVError> in
            unsafe gather(pieces.prefix(Self.mostPieces), into: vectors, at: 0)
        }.get()
    }

    /// Pins one piece after the other, because each is lent for the length of a call only.
    private func gather(
        _ pieces: ArraySlice<ArraySlice<UInt8>>,
        into vectors: UnsafeMutableBufferPointer<iovec>,
        at index: Int
    ) -> Result<Int?, UVError> {
        guard let piece = pieces.first else { return unsafe send(vectors, count: index) }
        return unsafe piece.withUnsafeBytes { buffer in
            unsafe vectors[index] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                iov_len: buffer.count
            )
            return unsafe gather(pieces.dropFirst(), into: vectors, at: index + 1)
        }
    }

    private func send(
        _ vectors: UnsafeMutableBufferPointer<iovec>,
        count: Int
    ) -> Result<Int?, UVError> {
        var message = unsafe msghdr()
        unsafe message.msg_iov = vectors.baseAddress
        unsafe message.msg_iovlen = count
        let number = number
        return Self.outcome { () throws(UVError) in
            try completingUnlessBlocked {
                unsafe sendmsg(number, &message, CInt(MSG_NOSIGNAL))
            }
        }
    }

    private static func outcome(
        _ body: () throws(UVError) -> Int?
    ) -> Result<Int?, UVError> {
        do {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }
}
