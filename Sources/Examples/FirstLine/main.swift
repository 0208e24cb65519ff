import Glibc
import UVRunLoop

let loop = UVRunLoop.current
var line: [UInt8] = []

do {
    let input = try UVRunLoop.DescriptorSource(STDIN_FILENO, events: .readable) { source, _ in
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(source.descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN { return }
        let piece = buffer.prefix(max(count, 0))
        line += piece
        // A line may come in pieces; an empty piece is the end of the input.
        if piece.isEmpty || piece.contains(UInt8(ascii: "\n")) { loop.stop() }
    }
    loop.add(input, forMode: .default)
} catch {
    print("There is no standard input: \(error).")
    exit(1)
}

switch loop.run(mode: .default, for: .seconds(10)) {
case .stopped where !line.isEmpty:
    print(String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
case .timedOut:
    print("Nobody typed a line.")
default:
    print("The input has ended.")
}
