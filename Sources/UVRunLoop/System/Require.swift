/// Traps with a message unless a condition holds, also in optimised builds.
///
/// `precondition` omits its message in optimised builds, where rules are broken in production. The
/// message states the rule and the way out.
@inlinable
@inline(__always)
package func require(
    _ isKept: @autoclosure () -> Bool,
    _ sentence: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) {
    if !isKept() { fail(sentence(), file: file, line: line) }
}

/// Traps with a message.
@inline(never)
@usableFromInline
package func fail(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(sentence, file: file, line: line)
}
