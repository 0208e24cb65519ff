import Results

/// The style of one system in every chart.
struct Style {
    /// The class of its colour in the style sheets.
    let colour: String
    let marker: Marker
    /// The lengths of dashes and gaps.
    let dashes: String
    let stroke: Stroke
}

extension System {
    /// Systems differ in hue, marker and dashes, so that none of the three is needed.
    var style: Style {
        switch self {
        case .uvRunLoop: Style(colour: "c1", marker: .circle, dashes: "none", stroke: .bold)
        case .libuv: Style(colour: "c2", marker: .square, dashes: "8 3", stroke: .data)
        case .cfRunLoop: Style(colour: "c3", marker: .triangle, dashes: "2 3", stroke: .data)
        case .nio: Style(colour: "c4", marker: .diamond, dashes: "8 3 2 3", stroke: .data)
        case .dispatch: Style(colour: "c5", marker: .cross, dashes: "4 3", stroke: .data)
        case .pool: Style(colour: "c6", marker: .circle, dashes: "1 2", stroke: .data)
        }
    }
}

/// The colours of a style sheet, as CSS writes them.
struct Palette {
    /// Behind everything.
    let ground: String
    /// Text and titles.
    let ink: String
    /// Text that can wait.
    let muted: String
    /// Lines behind the data.
    let grid: String
    /// Words about a good result.
    let good: String
    /// Words about a bad result.
    let bad: String
    /// The systems, in the order of their classes.
    let systems: [String]

    /// For the page, on white.
    static let light = Palette(
        ground: "#ffffff",
        ink: "#1f2328",
        muted: "#59636e",
        grid: "#d1d9e0",
        good: "#157a41",
        bad: "#c5341f",
        systems: ["#0a7cc4", "#d55e00", "#0a9a70", "#c061a0", "#7f7f7f", "#8f6fd6"]
    )

    /// For the page, on black.
    static let dark = Palette(
        ground: "#0d1117",
        ink: "#e6edf3",
        muted: "#9198a1",
        grid: "#30363d",
        good: "#4cc38a",
        bad: "#ff8f7a",
        systems: ["#58b0f0", "#ff8a4c", "#3fc79a", "#e58fc8", "#b3b3b3", "#b8a1f0"]
    )

    /// For a picture on its own, where the system is set to light.
    ///
    /// The page around a picture may be set to something else than the system, so these colours
    /// keep a contrast of 3 to 1 on black too.
    static let lightAnywhere = Palette(
        ground: "none",
        ink: "#5c6570",
        muted: "#6e7781",
        grid: "#80808055",
        good: "#1a8a4a",
        bad: "#d1442f",
        systems: light.systems
    )

    /// For a picture on its own, where the system is set to dark: 3 to 1 on white too.
    static let darkAnywhere = Palette(
        ground: "none",
        ink: "#8b949e",
        muted: "#858e98",
        grid: "#80808055",
        good: "#1a8a4a",
        bad: "#d1442f",
        systems: light.systems
    )

    /// Colours that are named here and set elsewhere.
    static let variables = Palette(
        ground: "var(--ground)",
        ink: "var(--ink)",
        muted: "var(--muted)",
        grid: "var(--grid)",
        good: "var(--good)",
        bad: "var(--bad)",
        systems: (1...6).map { "var(--c\($0))" }
    )

    /// Sets the variables to these colours.
    var assignments: String {
        let named = [
            ("ground", ground), ("ink", ink), ("muted", muted), ("grid", grid), ("good", good),
            ("bad", bad),
        ]
        let numbered = systems.enumerated().map { ("c\($0.offset + 1)", $0.element) }
        return (named + numbered).map { "--\($0.0): \($0.1);" }.joined(separator: " ")
    }
}
