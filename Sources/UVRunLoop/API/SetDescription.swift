extension [String] {
    /// The names of a set's members in one text: one as it is, several or none in brackets.
    var setDescription: String { count == 1 ? self[0] : "[\(joined(separator: ", "))]" }
}
