/// The unsent bytes of a connection or a pipe, in order, with marks for flow control.
package struct OutputQueue: Sendable {
    /// Small pieces are coalesced up to this size, so that one call sends many.
    private static let coalescedSize = 16384

    /// Senders should pause while the queue is longer than this.
    var highMark: Int { didSet { checkHighMark() } }
    /// Senders may resume once the queue is this short again.
    var lowMark: Int { didSet { lowMark = max(lowMark, 0) } }
    /// Bytes beyond this are refused.
    var capacity: Int { didSet { capacity = max(capacity, 0) } }

    package private(set) var count = 0
    /// Whether the queue was longer than the high mark, and is not yet as short as the low mark.
    var isAboveHighMark: Bool { wasAboveHighMark && count > lowMark }
    /// Whether the queue was longer than the high mark since it was last found as short as the low
    /// mark, which is found when bytes are sent.
    private var wasAboveHighMark = false
    private var pieces: [ArraySlice<UInt8>] = []
    /// How many of the pieces are sent.
    private var sentPieces = 0

    package init(highMark: Int = 65536, lowMark: Int = 32768, capacity: Int = 64 << 20) {
        self.highMark = highMark
        self.lowMark = lowMark
        self.capacity = capacity
    }

    package var isEmpty: Bool { count == 0 }

    /// Whether this many more bytes exceed the capacity.
    func overflows(with more: Int) -> Bool { more > capacity - count }

    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        let last = pieces.count - 1
        // The piece is not bound to a variable: a second reference would make appending copy it.
        if last >= sentPieces, pieces[last].count + bytes.count <= Self.coalescedSize {
            pieces[last].append(contentsOf: bytes)
        } else {
            pieces.append(bytes)
        }
        count += bytes.count
        checkHighMark()
    }

    private mutating func checkHighMark() {
        if count > highMark { wasAboveHighMark = true }
    }

    /// The first unsent pieces, up to a limit.
    package func first(_ limit: Int) -> [ArraySlice<UInt8>] {
        Array(pieces[sentPieces...].prefix(limit))
    }

    /// The only unsent piece, if there is exactly one.
    var only: ArraySlice<UInt8>? { pieces.count - sentPieces == 1 ? pieces.last : nil }

    /// Removes sent bytes.
    ///
    /// - Returns: Whether the queue, once above the high mark, is now as short as the low mark.
    @discardableResult
    package mutating func didSend(_ sent: Int) -> Bool {
        count -= sent
        var rest = sent
        while rest > 0, rest >= pieces[sentPieces].count {
            rest -= pieces[sentPieces].count
            pieces[sentPieces] = []
            sentPieces += 1
        }
        if rest > 0 { pieces[sentPieces] = pieces[sentPieces].dropFirst(rest) }
        if count == 0 {
            // An idle connection keeps no buffer.
            pieces = []
            sentPieces = 0
        } else if sentPieces > 32, sentPieces * 2 > pieces.count {
            pieces.removeFirst(sentPieces)
            sentPieces = 0
        }
        guard wasAboveHighMark, count <= lowMark else { return false }
        wasAboveHighMark = false
        return true
    }

    mutating func removeAll() {
        pieces = []
        sentPieces = 0
        count = 0
        wasAboveHighMark = false
    }
}
