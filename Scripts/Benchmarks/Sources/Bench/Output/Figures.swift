import Foundation
import Results

/// Numbers as people read them: three digits that mean something, and a unit.
enum Figures {
    static func value(_ value: Double, _ unit: SampleUnit) -> String {
        switch unit {
        case .nanoseconds: time(value)
        case .perSecond: rate(value)
        case .bytes: "\(threeDigits(value)) B"
        case .wakeUpsPerSecond: "\(threeDigits(value)) /s"
        }
    }

    static func ratio(_ value: Double) -> String { "\(threeDigits(value)) ×" }

    static func threeDigits(_ value: Double) -> String {
        let size = abs(value)
        let places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 || size == 0 ? 2 : 4
        return String(format: "%.\(places)f", value)
    }

    /// Without a decimal point where none is needed.
    static func plain(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }

    private static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<9_999.5: "\(threeDigits(nanoseconds)) ns"
        case ..<9_999_500: "\(threeDigits(nanoseconds / 1e3)) µs"
        default: "\(threeDigits(nanoseconds / 1e6)) ms"
        }
    }

    private static func rate(_ perSecond: Double) -> String {
        perSecond < 1e6
            ? "\(threeDigits(perSecond / 1e3)) k/s" : "\(threeDigits(perSecond / 1e6)) M/s"
    }
}
