/// Lines of cells, aligned for a terminal.
struct TextTable {
    private var lines: [[String]] = []
    /// How many columns at the left hold words; the others hold figures and end at the right.
    private let wordColumns: Int

    init(_ header: [String], words wordColumns: Int) {
        self.wordColumns = wordColumns
        lines = [header]
    }

    mutating func add(_ cells: [String]) { lines.append(cells) }

    var text: String {
        let columns = lines.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return lines.map { line in
            let cells = line.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < wordColumns ? cell + space : space + cell
            }
            let text = "  " + cells.joined(separator: "  ")
            return String(text.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
