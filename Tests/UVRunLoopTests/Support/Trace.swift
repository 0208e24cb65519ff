import Foundation

/// The events of a trace file.
struct Trace {
    struct Event {
        let phase: String
        let name: String
        let category: String
        let thread: Int
        /// Microseconds.
        let time: Double
        let duration: Double
        let number: Int?
        let arguments: [String: String]

        var end: Double { time + duration }
    }

    let events: [Event]

    /// Reads a file; one that ends early is completed as the format allows.
    init(path: String, isComplete: Bool = true) throws {
        var text = try Self.text(at: path)
        if !isComplete {
            let end = text.range(of: "},\n", options: .backwards)?.lowerBound ?? text.startIndex
            text = text[..<end] + "}]"
        }
        let array = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        events = try (array ?? []).map { try Event($0) }
    }

    /// The contents of a file so far.
    static func text(at path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The events of the thread that has a name.
    func events(ofThread name: String) -> [Event] {
        let names = events.filter { $0.name == "thread_name" && $0.arguments["name"] == name }
        let threads = Set(names.map(\.thread))
        return events.filter { threads.contains($0.thread) && $0.phase != "M" }
    }
}

extension [Trace.Event] {
    func named(_ name: String) -> [Trace.Event] { filter { $0.name == name } }

    func of(_ category: String) -> [Trace.Event] { filter { $0.category == category } }

    /// Whether each slice lies within the one around it, or beside it.
    var areNested: Bool {
        let slices = filter { $0.phase == "X" }
            .sorted { $0.time != $1.time ? $0.time < $1.time : $0.duration > $1.duration }
        var open: [Trace.Event] = []
        for slice in slices {
            // Half a nanosecond, which the numbers cannot tell apart.
            while let last = open.last, last.end <= slice.time + 0.000_5 { open.removeLast() }
            if let last = open.last, slice.end > last.end + 0.000_5 { return false }
            open.append(slice)
        }
        return true
    }
}

extension Trace.Event {
    fileprivate init(_ object: [String: Any]) throws {
        guard let phase = object["ph"] as? String, let name = object["name"] as? String,
            object["pid"] is Int
        else { throw CocoaError(.propertyListReadCorrupt) }
        let isTimed = phase != "M"
        guard !isTimed || (object["ts"] is Double && object["tid"] is Int) else {
            throw CocoaError(.propertyListReadCorrupt)
        }
        self.phase = phase
        self.name = name
        category = object["cat"] as? String ?? ""
        thread = object["tid"] as? Int ?? 0
        time = object["ts"] as? Double ?? 0
        duration = object["dur"] as? Double ?? 0
        number = object["id"] as? Int
        let arguments = object["args"] as? [String: Any] ?? [:]
        self.arguments = arguments.mapValues { "\($0)" }
    }
}
