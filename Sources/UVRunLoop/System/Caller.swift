/// Where a public function was called, and for which object, for the message of a trap.
@usableFromInline
package struct Caller {
    package let file: StaticString
    package let line: UInt
    /// The object, as the subject of a sentence: `This timer`, or `The timer "poll"`.
    package let subject: String

    package init(
        _ file: StaticString,
        _ line: UInt,
        _ kind: StaticString,
        label: String? = nil
    ) {
        self.file = file
        self.line = line
        subject = label.map { "The \(kind) \($0.debugDescription)" } ?? "This \(kind)"
    }
}
