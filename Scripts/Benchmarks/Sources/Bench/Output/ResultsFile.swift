import Foundation
import Results

/// Results as a file that other programs read.
enum ResultsFile {
    static func write(_ results: Results, to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(results).write(to: file)
    }
}
