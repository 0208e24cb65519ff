// swift-tools-version: 6.2
import PackageDescription

let safe: [SwiftSetting] = [.strictMemorySafety()]

let package = Package(
    name: "UVRunLoop",
    products: [
        .library(name: "UVRunLoop", targets: ["UVRunLoop"])
    ],
    targets: [
        .systemLibrary(
            name: "CUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"])]
        ),
        .target(name: "UVRunLoop", dependencies: ["CUV"], swiftSettings: safe),
        .executableTarget(
            name: "Tour",
            dependencies: ["UVRunLoop"],
            path: "Sources/Examples/Tour"
        ),
        .testTarget(name: "UVRunLoopTests", dependencies: ["UVRunLoop"]),
    ],
    swiftLanguageModes: [.v6]
)
