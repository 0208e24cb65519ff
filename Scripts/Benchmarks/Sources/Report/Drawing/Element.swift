/// An element of SVG or HTML, which share the way they are written.
struct Element {
    /// The content between an element's tags.
    enum Content {
        /// Nothing, ever: the element closes itself.
        case none
        /// Words, which are escaped.
        case text(String)
        /// A style sheet, which neither format wants escaped. It may not have `<` or `&` in it.
        case styleSheet(String)
        /// More elements.
        case elements([Element])
    }

    let name: String
    let attributes: KeyValuePairs<String, String>
    let content: Content

    init(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ content: Content = .none
    ) {
        self.name = name
        self.attributes = attributes
        self.content = content
    }

    init(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) {
        self.init(name, attributes, .text(text))
    }

    init(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ inner: [Element]) {
        self.init(name, attributes, .elements(inner))
    }

    /// The element as a file has it, with each inner element on a line of its own.
    var source: String {
        let named = attributes.map { " \($0.key)=\"\(Element.escaped($0.value))\"" }.joined()
        return switch content {
        case .none: "<\(name)\(named)/>"
        case .text(let text): "<\(name)\(named)>\(Element.escaped(text))</\(name)>"
        case .styleSheet(let rules): "<\(name)\(named)>\n\(rules)\n</\(name)>"
        case .elements(let inner):
            "<\(name)\(named)>\n\(inner.map { $0.source + "\n" }.joined())</\(name)>"
        }
    }

    /// Words without the characters that mean something to SVG and HTML.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // XML 1.0 has no way to write the other control characters.
            case "\u{0}"..<" " where !"\t\n\r".unicodeScalars.contains(character): escaped += " "
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
