/// The rules that give charts their colours and fonts.
enum StyleSheet {
    /// For a picture on its own, which asks the system whether it is set to light or dark.
    ///
    /// Colours stand in it literally: some programs that show pictures know no CSS variables.
    static let standalone = """
        \(shapes)
        \(colours(.lightAnywhere))
        @media (prefers-color-scheme: dark) {
        \(colours(.darkAnywhere))
        }
        """

    /// For pictures within the page, whose colours are the page's variables.
    static let embedded = """
        \(shapes)
        \(colours(.variables))
        """

    private static let shapes = """
        svg text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; \
        font-size: 13px; }
        svg .title { font-size: 16px; font-weight: 600; }
        svg .good, svg .bad { font-size: 13.5px; font-weight: 600; }
        .filled { fill: currentColor; stroke: none; }
        .bold, .data, .whisker, .leader { stroke: currentColor; fill: none; \
        stroke-linejoin: round; }
        .bold { stroke-width: 3; }
        .data { stroke-width: 2; }
        .whisker { stroke-width: 1.2; }
        .leader { stroke-width: 1; opacity: 0.6; }
        .grid, .base { fill: none; stroke-width: 1; }
        """

    private static func colours(_ palette: Palette) -> String {
        let systems = palette.systems.enumerated().map {
            ".c\($0.offset + 1) { color: \($0.element); }"
        }
        let parts = [
            "svg .title, svg .name { fill: \(palette.ink); }",
            "svg .note, svg .tick { fill: \(palette.muted); }",
            "svg .good { fill: \(palette.good); }",
            "svg .bad { fill: \(palette.bad); }",
            ".grid { stroke: \(palette.grid); }",
            ".base { stroke: \(palette.muted); }",
            ".reference { color: \(palette.muted); }",
        ]
        return (parts + systems).joined(separator: "\n")
    }
}
