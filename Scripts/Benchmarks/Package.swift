// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no client of the library builds or resolves what is measured here.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "UVRunLoop", path: "../..")],
    targets: [
        .executableTarget(
            name: "PortBenchmark",
            dependencies: [
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopPorts", package: "UVRunLoop"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
