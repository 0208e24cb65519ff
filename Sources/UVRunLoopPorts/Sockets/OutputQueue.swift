/// What a connection has still to send, in order, and when there is too much of it.
struct OutputQueue: Sendable {
    /// Small pieces are put together up to this size, so that one call sends many.
    private static let wholesale = 16384

    /// More than this is too much: senders had better wait.
    var highMark: Int
    /// So little, after there was too much, means that senders may go on.
    var lowMark: Int
    /// More than this is refused.
    var capacity: Int

    private(set) var count = 0
    /// There was too much, and there is not yet little enough.
    private(set) var isAboveHighMark = false
    private var pieces: [ArraySlice<UInt8>] = []
    /// How many of the pieces are sent already.
    private var sentPieces = 0

    init(highMark: Int = 65536, lowMark: Int = 32768, capacity: Int = 64 << 20) {
        self.highMark = highMark
        self.lowMark = lowMark
        self.capacity = capacity
    }

    var isEmpty: Bool { count == 0 }

    /// Whether so many more are too many.
    func overflows(with more: Int) -> Bool { more > capacity - count }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        let last = pieces.count - 1
        // The piece is not named here: with two names for it, appending would copy it.
        if last >= sentPieces, pieces[last].count + bytes.count <= Self.wholesale {
            pieces[last].append(contentsOf: bytes)
        } else {
            pieces.append(bytes)
        }
        count += bytes.count
        if count > highMark { isAboveHighMark = true }
    }

    /// The first pieces, at most so many.
    func first(_ limit: Int) -> [ArraySlice<UInt8>] {
        Array(pieces[sentPieces...].prefix(limit))
    }

    /// The first piece, when it is the only one.
    var only: ArraySlice<UInt8>? { pieces.count - sentPieces == 1 ? pieces.last : nil }

    /// Lets go of what was sent.
    ///
    /// It answers whether there has become little enough of what was too much.
    mutating func didSend(_ sent: Int) -> Bool {
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
        guard isAboveHighMark, count <= lowMark else { return false }
        isAboveHighMark = false
        return true
    }

    mutating func removeAll() {
        pieces = []
        sentPieces = 0
        count = 0
        isAboveHighMark = false
    }
}
