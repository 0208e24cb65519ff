/// Writes entries as events of the trace format, one line each, which Perfetto and Chrome open.
///
/// The file is an array of objects. The format allows the closing bracket to be missing, so that
/// the trace of a program that was killed can be opened, too.
struct TraceFormat {
    let process: Int32
    private(set) var text = ""

    init(process: Int32) { self.process = process }

    static let opening = "[\n"

    /// Ends the array, with the name once more, because the last event has no comma.
    mutating func takeClosing(processName: String) -> String {
        name(ofProcess: processName)
        return takeText().dropLast(2) + "\n]\n"
    }

    mutating func takeText() -> String { exchange(&text, with: "") }

    // MARK: Names

    mutating func name(ofProcess name: String) {
        line("M", "process_name", nil, 0, ",\"args\":{\"name\":\(Self.quoted(name))}")
    }

    mutating func name(of thread: Int32, _ name: String) {
        line("M", "thread_name", nil, thread, ",\"args\":{\"name\":\(Self.quoted(name))}")
    }

    // MARK: Events

    mutating func append(_ entry: TraceEntry, on thread: Int32) {
        switch entry {
        case .run(let mode, let result, let span):
            let result = result.map { ",\"result\":\"\($0)\"" } ?? ""
            let mode = Self.quoted(mode.debugDescription)
            slice("run", "run", thread, span, "\"mode\":\(mode)\(result)")
        case .pass(let number, let span):
            slice("pass", "pass", thread, span, "\"number\":\(number)")
        case .sleep(let span, let wake):
            let sender = wake.map { "\"woken by\":\(Self.quoted($0.senderName))" }
            slice("sleep", "sleep", thread, span, sender ?? "")
            if let wake { flow("f", wake, thread, at: max(span.began, span.ended - 1)) }
        case .call(let call, let span):
            slice(call.name, "\(call.kind)", thread, span, Self.arguments(of: call))
        case .wake(let wake, let target, let span):
            slice("wake \(target)", "wake", thread, span, "")
            flow("s", wake, thread, at: span.began)
        case .moment(let text, let time):
            line("i", text, "note", thread, ",\"ts\":\(Self.microseconds(time)),\"s\":\"t\"")
        }
    }

    private static func arguments(of call: Callout) -> String {
        var arguments: [String] = ["\"kind\":\"\(call.kind)\""]
        if let detail = call.detail { arguments.append("\"detail\":\(quoted(detail))") }
        if let late = call.lateness { arguments.append("\"late µs\":\(microseconds(late))") }
        if call.missed > 0 { arguments.append("\"missed\":\(call.missed)") }
        return arguments.joined(separator: ",")
    }

    private mutating func slice(
        _ name: String,
        _ category: String,
        _ thread: Int32,
        _ span: TraceSpan,
        _ arguments: String
    ) {
        let times =
            "\(Self.microseconds(span.began)),\"dur\":"
            + Self.microseconds(max(0, span.ended - span.began))
        line("X", name, category, thread, ",\"ts\":\(times),\"args\":{\(arguments)}")
    }

    private mutating func flow(_ phase: String, _ wake: TraceWake, _ thread: Int32, at time: Int64)
    {
        let end = phase == "f" ? ",\"bp\":\"e\"" : ""
        line(
            phase,
            "wake-up",
            "wake",
            thread,
            ",\"ts\":\(Self.microseconds(time)),\"id\":\(wake.number)\(end)"
        )
    }

    private mutating func line(
        _ phase: String,
        _ name: String,
        _ category: String?,
        _ thread: Int32,
        _ rest: String
    ) {
        text += "{\"ph\":\"\(phase)\",\"name\":\(Self.quoted(name)),"
        if let category { text += "\"cat\":\"\(category)\"," }
        text += "\"pid\":\(process),\"tid\":\(thread)\(rest)},\n"
    }

    // MARK: Values

    /// Microseconds with three decimals.
    static func microseconds(_ nanoseconds: Int64) -> String {
        let fraction = "\(nanoseconds % 1_000)"
        return "\(nanoseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.count)
            + fraction
    }

    /// A string of JSON.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
