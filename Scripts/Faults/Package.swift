// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the library resolves or builds it.
let package = Package(
    name: "Faults",
    dependencies: [.package(name: "UVRunLoop", path: "../..")],
    targets: [
        .target(name: "Injection"),
        .executableTarget(
            name: "Faults",
            dependencies: [
                "Injection",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopPorts", package: "UVRunLoop"),
                .product(name: "UVRunLoopSystem", package: "UVRunLoop"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
