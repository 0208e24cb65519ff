import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct DecimalTests {
    @Test(arguments: [0, 1, -1, 9, 10, -10, 1_234_567, .max, .min, 99, 100, 101])
    func numbersAreWrittenAndRead(number: Int) {
        #expect(number.decimalBytes == Array("\(number)".utf8))
        #expect(number.decimalBytes[...].decimalInteger == number)
    }

    @Test(arguments: [
        "", "-", "+1", " 1", "1 ", "01", "-0", "00", "1a", "9223372036854775808",
        "-9223372036854775809", "99999999999999999999999",
    ])
    func whatIsNoNumberIsRefused(text: String) {
        #expect(bytes(text).decimalInteger == nil)
    }
}
