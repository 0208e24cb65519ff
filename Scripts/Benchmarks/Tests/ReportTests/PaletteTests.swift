import Glibc
import Testing

@testable import Report

@Suite struct PaletteTests {
    private let white = "#ffffff"
    private let black = "#0d1117"

    @Test func picturesOnTheirOwnCanBeReadOnWhiteAndOnBlack() {
        for palette in [Palette.lightAnywhere, .darkAnywhere] {
            let colours =
                [palette.ink, palette.muted, palette.good, palette.bad] + palette.systems
            for colour in colours {
                #expect(contrast(colour, white) >= 3, "\(colour) on white")
                #expect(contrast(colour, black) >= 3, "\(colour) on black")
            }
        }
    }

    @Test func textOfThePageStandsOutFromItsGround() {
        for palette in [Palette.light, .dark] {
            for colour in [palette.ink, palette.muted, palette.good, palette.bad] {
                #expect(contrast(colour, palette.ground) >= 4.5, "\(colour) on \(palette.ground)")
            }
            for colour in palette.systems {
                #expect(contrast(colour, palette.ground) >= 3, "\(colour) on \(palette.ground)")
            }
        }
    }

    /// The contrast ratio of WCAG 2.
    private func contrast(_ one: String, _ other: String) -> Double {
        let luminances = [luminance(one), luminance(other)].sorted()
        return (luminances[1] + 0.05) / (luminances[0] + 0.05)
    }

    private func luminance(_ colour: String) -> Double {
        let code = Int(colour.dropFirst(), radix: 16) ?? 0
        let parts = [code >> 16, code >> 8 & 255, code & 255].map { part in
            let share = Double(part) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
