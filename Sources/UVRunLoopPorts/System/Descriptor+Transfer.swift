internal import UVLibc
import UVRunLoop

/// The result of one read from a stream.
enum StreamInput<Bytes> {
    case bytes(Bytes)
    /// The peer has shut down its sending side.
    case end
    case wouldBlock
}

extension Descriptor {
    /// Reads once, through a buffer that all ports share.
    ///
    /// Unread bytes are left for the next call.
    ///
    /// - Parameter body: Called with the bytes, if there are any.
    /// - Returns: The result of `body`, or why there are no bytes.
    /// - Throws: The system's error.
    @inline(__always)
    func read<Result>(_ body: (RawSpan) -> Result) throws(UVError) -> StreamInput<Result> {
        let number = number
        return unsafe try ReadBuffer.lend { buffer throws(UVError) in
            let count = try completingUnlessBlocked {
                unsafe UVLibc.read(number, buffer.baseAddress, buffer.count)
            }
            guard let count else { return .wouldBlock }
            return unsafe count == 0
                ? .end : .bytes(body(UnsafeRawBufferPointer(buffer).bytes.extracting(first: count)))
        }
    }

    /// Reads once and returns a copy of the bytes.
    func read() throws(UVError) -> StreamInput<[UInt8]> {
        try read { $0.copy(0..<$0.byteCount) }
    }

    /// Whether the socket has bytes to be read.
    var holdsInput: Bool {
        var byte: UInt8 = 0
        return unsafe UVLibc.recv(number, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    }

    /// Sends as much as the socket accepts, without `SIGPIPE` if the peer is gone.
    ///
    /// - Returns: The number of bytes sent; `nil` if the send would block.
    func send(_ bytes: RawSpan) throws(UVError) -> Int? {
        let number = number
        let outcome: Result<Int?, UVError> = unsafe bytes.withUnsafeBytes { buffer in
            Self.outcome { () throws(UVError) in
                try completingUnlessBlocked {
                    unsafe UVLibc.send(
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

    /// Sends as much of a slice as the socket accepts, as ``send(_:)-(RawSpan)`` does.
    func send(_ bytes: ArraySlice<UInt8>) throws(UVError) -> Int? {
        unsafe try send(bytes.span.bytes)
    }

    /// Sends as much as the socket accepts, as ``send(_:)-(RawSpan)`` does.
    func send(_ source: borrowing WordsAndPieces) throws(UVError) -> Int? {
        unsafe try source.withBytes { bytes in
            Result { () throws(UVError) in try send(unsafe bytes.bytes) }
        }.get()
    }

    /// The most pieces that one call sends.
    static let maximumPieces = 16

    /// Sends as much of several pieces as the socket accepts, in one call and in order.
    ///
    /// Pieces after the first ``maximumPieces`` are left for the next call.
    ///
    /// - Returns: The number of bytes sent; `nil` if the send would block.
    func send(_ pieces: [ArraySlice<UInt8>]) throws(UVError) -> Int? {
        unsafe try withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.maximumPieces) {
            vectors -> Result<Int?, UVError> in
            unsafe gather(pieces.prefix(Self.maximumPieces), into: vectors, at: 0)
        }.get()
    }

    /// Recurses, because each piece's memory is valid only inside a nested closure.
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
