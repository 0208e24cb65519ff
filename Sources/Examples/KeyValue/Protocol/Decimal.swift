// Whole numbers in the protocol's format: digits, optionally after a minus sign.

extension ArraySlice<UInt8> {
    /// Parses a number; `nil` if the bytes are not one or it overflows.
    ///
    /// As strict as Redis: no plus sign, blanks, leading zeros or minus zero.
    var decimalInteger: Int? {
        let isNegative = first == UInt8(ascii: "-")
        let digits = isNegative ? dropFirst() : self
        guard let leading = digits.first, digits.count <= 19 else { return nil }
        if leading == UInt8(ascii: "0") { return count == 1 ? 0 : nil }

        // Accumulated as a negative number, because the minimum has no positive counterpart.
        var value = 0
        for byte in digits {
            let digit = Int(byte) - Int(UInt8(ascii: "0"))
            guard 0...9 ~= digit else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLong) = product.subtractingReportingOverflow(digit)
            if isTooLarge || isTooLong { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }
}

extension [UInt8] {
    /// Appends a number's digits without making a string.
    mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        if rest < 10 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest))
            return
        }

        var width = 0
        var scale = rest
        while scale > 0 {
            scale /= 10
            width += 1
        }
        let start = count
        append(contentsOf: repeatElement(0, count: width))
        var place = start + width
        while rest > 0 {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

extension Int {
    /// The number's digits as bytes, which is how numbers are stored.
    var decimalBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(decimal: self)
        return bytes
    }
}
