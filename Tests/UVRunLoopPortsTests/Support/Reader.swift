/// Reads from a peer on another thread: a number of bytes, or to the end.
struct Reader {
    private let thread: RunningThread

    init(_ peer: Peer, count: Int?, _ body: @escaping ([UInt8]) -> Void) {
        thread = startUncheckedThread {
            var all: [UInt8] = []
            while all.count < count ?? .max, let bytes = peer.read(), !bytes.isEmpty {
                all += bytes
            }
            body(all)
        }
    }

    func join() { thread.join() }
}
