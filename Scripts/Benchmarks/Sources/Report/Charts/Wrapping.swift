extension TextStyle {
    /// Breaks a text into lines that are not wider than a length, as far as its words allow.
    func lines(of words: String, width: Double) -> [String] {
        words.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, self.width(of: "\(last) \(word)") <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
