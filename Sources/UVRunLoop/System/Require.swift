/// Stops the process with a sentence unless a rule is kept.
///
/// What `precondition` says is left out of optimised builds, which is where a rule is broken in
/// earnest: the sentence names the rule and the way out, so it is said there too.
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

/// Stops the process with a sentence.
@inline(never)
@usableFromInline
package func fail(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(sentence, file: file, line: line)
}
