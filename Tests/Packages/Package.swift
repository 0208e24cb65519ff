// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no client of the library resolves or builds what it is tested with.
let package = Package(
    name: "Packages",
    products: [
        .library(name: "FirstCopy", type: .dynamic, targets: ["Copy"]),
        .library(name: "SecondCopy", type: .dynamic, targets: ["Copy"]),
    ],
    dependencies: [
        .package(name: "UVRunLoop", path: "../..", traits: ["Service", "Metrics", "Logs"]),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "Copy",
            dependencies: [.product(name: "UVRunLoop", package: "UVRunLoop")]
        ),
        .executableTarget(
            name: "Copies",
            dependencies: [.product(name: "UVRunLoop", package: "UVRunLoop")]
        ),
        .executableTarget(
            name: "ServedProgram",
            dependencies: [
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopService", package: "UVRunLoop"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "Probe",
            dependencies: [
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopService", package: "UVRunLoop"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "PackageTests",
            dependencies: [
                "Copies",
                "Probe",
                "ServedProgram",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
                .product(name: "UVRunLoopService", package: "UVRunLoop"),
                .product(name: "UVRunLoopMetrics", package: "UVRunLoop"),
                .product(name: "UVRunLoopLogs", package: "UVRunLoop"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
