// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no client of the library builds or resolves what is measured here.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "UVRunLoop", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .target(name: "BenchSystem"),
        .target(
            name: "BenchSupport",
            dependencies: [
                "BenchSystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // Apart, so that programs that measure no CFRunLoop do without Foundation.
        .target(name: "CFSupport", dependencies: ["BenchSupport"]),
        .executableTarget(
            name: "PortBenchmark",
            dependencies: [
                "BenchSupport",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopPorts", package: "UVRunLoop"),
            ]
        ),
        .executableTarget(
            name: "Contention",
            dependencies: [
                "BenchSupport",
                "CFSupport",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopPorts", package: "UVRunLoop"),
                .product(name: "UVRunLoopFoundation", package: "UVRunLoop"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "Results"),
        .target(name: "Report", dependencies: ["Results"]),
        .testTarget(name: "ReportTests", dependencies: ["Report", "Results"]),
        .target(
            name: "RawUV",
            dependencies: ["BenchSystem", .product(name: "CUV", package: "UVRunLoop")]
        ),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "BenchSupport",
                "CFSupport",
                "Report",
                "Results",
                "RawUV",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "Stress",
            dependencies: [
                "BenchSupport",
                "BenchSystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "UVRunLoop", package: "UVRunLoop"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
