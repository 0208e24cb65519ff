import CUV
import Glibc
import Testing

/// Which libuv the tests run on.
@Suite(.timeLimit(.minutes(15))) struct LibraryVersionTests {
    @Test func theLibraryIsNoOlderThanTheHeadersItWasBuiltWith() {
        #expect(uv_version() >> 8 >= UInt32(UV_VERSION_MAJOR << 8 | UV_VERSION_MINOR))
    }

    /// Scripts/check-libuv says which one is meant.
    @Test(.enabled(if: getenv("UVRUNLOOP_LIBUV_VERSION") != nil))
    func theLibraryIsTheOneThatIsToBeTested() throws {
        let meant = try #require(getenv("UVRUNLOOP_LIBUV_VERSION"))
        #expect(String(cString: uv_version_string()) == String(cString: meant))
        #expect("\(UV_VERSION_MAJOR).\(UV_VERSION_MINOR)" == minor(of: String(cString: meant)))
    }

    /// The first two of three numbers.
    private func minor(of version: String) -> String {
        version.split(separator: ".").prefix(2).joined(separator: ".")
    }
}
