// swift-tools-version: 6.2
import PackageDescription

let safe: [SwiftSetting] = [.strictMemorySafety()]

// What the release tests check is the optimised library: optimising most tests as well would find
// nothing more and take two minutes. The explorer and the random programs need it.
let unoptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// The explorer of the protocols runs a tenth as fast in code that is not optimised.
let optimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "UVRunLoop",
    products: [
        .library(name: "UVRunLoop", targets: ["UVRunLoop"]),
        .library(name: "CUV", targets: ["CUV"]),
        .library(name: "UVRunLoopPorts", targets: ["UVRunLoopPorts"]),
        .library(name: "UVRunLoopSystem", targets: ["UVRunLoopSystem"]),
        .library(name: "UVRunLoopFoundation", targets: ["UVRunLoopFoundation"]),
        .library(name: "UVRunLoopService", targets: ["UVRunLoopService"]),
        .library(name: "UVRunLoopTesting", targets: ["UVRunLoopTesting"]),
        .library(name: "UVRunLoopBacktraces", targets: ["UVRunLoopBacktraces"]),
        .library(name: "UVRunLoopMetrics", targets: ["UVRunLoopMetrics"]),
        .library(name: "UVRunLoopLogs", targets: ["UVRunLoopLogs"]),
    ],
    traits: [
        .trait(
            name: "Service",
            description:
                "UVRunLoopService: a loop's thread as a service of swift-service-lifecycle."
        ),
        .trait(
            name: "Metrics",
            description: "UVRunLoopMetrics: what loops do, for swift-metrics."
        ),
        .trait(
            name: "Logs",
            description: "UVRunLoopLogs: hangs and likely mistakes, for swift-log."
        ),
        .default(enabledTraits: []),
    ],
    dependencies: [
        // Only used, and only fetched, with the traits.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"])]
        ),
        .target(name: "CUVSupport", dependencies: ["CUV"]),
        .target(name: "UVLibc", swiftSettings: safe),
        .target(name: "UVRunLoop", dependencies: ["CUV", "CUVSupport"], swiftSettings: safe),
        .target(
            name: "UVRunLoopPorts",
            dependencies: ["CUVSupport", "UVLibc", "UVRunLoop"],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopSystem",
            dependencies: ["CUV", "CUVSupport", "UVLibc", "UVRunLoop", "UVRunLoopPorts"],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopFoundation",
            dependencies: ["UVRunLoop"],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopTesting",
            dependencies: ["UVLibc", "UVRunLoop"],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopService",
            dependencies: [
                "UVRunLoop",
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["Service"])
                ),
            ],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopBacktraces",
            dependencies: ["UVLibc", "UVRunLoop"],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopMetrics",
            dependencies: [
                "UVRunLoop",
                .product(
                    name: "Metrics",
                    package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])
                ),
            ],
            swiftSettings: safe
        ),
        .target(
            name: "UVRunLoopLogs",
            dependencies: [
                "UVRunLoop",
                .product(
                    name: "Logging",
                    package: "swift-log",
                    condition: .when(traits: ["Logs"])
                ),
            ],
            swiftSettings: safe
        ),
        .executableTarget(
            name: "Tour",
            dependencies: ["UVRunLoop"],
            path: "Sources/Examples/Tour"
        ),
        .executableTarget(
            name: "KeyValue",
            dependencies: ["UVRunLoop", "UVRunLoopPorts"],
            path: "Sources/Examples/KeyValue"
        ),
        .executableTarget(
            name: "Tally",
            dependencies: ["UVRunLoop", "UVRunLoopPorts"],
            path: "Sources/Examples/Tally"
        ),
        .executableTarget(
            name: "Guide",
            dependencies: ["UVRunLoop", "UVRunLoopPorts"],
            path: "Sources/Examples/Guide"
        ),
        .executableTarget(
            name: "FirstLine",
            dependencies: ["UVRunLoop"],
            path: "Sources/Examples/FirstLine"
        ),
        .executableTarget(
            name: "Rerun",
            dependencies: ["UVRunLoop", "UVRunLoopSystem"],
            path: "Sources/Examples/Rerun"
        ),
        .executableTarget(
            name: "Schedule",
            dependencies: ["UVRunLoop", "UVRunLoopSystem"],
            path: "Sources/Examples/Schedule"
        ),
        .executableTarget(
            name: "Chat",
            dependencies: ["UVRunLoop", "UVRunLoopPorts"],
            path: "Sources/Examples/Chat"
        ),
        .executableTarget(
            name: "Lookup",
            dependencies: ["UVRunLoop", "UVRunLoopPorts"],
            path: "Sources/Examples/Lookup"
        ),
        .executableTarget(
            name: "Follow",
            dependencies: ["UVRunLoop", "UVRunLoopSystem"],
            path: "Sources/Examples/Follow"
        ),
        .executableTarget(
            name: "DispatchProbe",
            dependencies: ["TestSupport", "UVRunLoop"],
            path: "Tests/Support/DispatchProbe"
        ),
        .executableTarget(
            name: "TaskProbe",
            dependencies: ["TestSupport", "UVRunLoop"],
            path: "Tests/Support/TaskProbe"
        ),
        .executableTarget(
            name: "AsyncMainProbe",
            dependencies: ["TestSupport", "UVRunLoop"],
            path: "Tests/Support/AsyncMainProbe"
        ),
        .target(name: "QuietItems", path: "Tests/Support/QuietItems"),
        .target(
            name: "TestSupport",
            dependencies: ["QuietItems", "UVRunLoop", "UVRunLoopTesting"],
            path: "Tests/TestSupport"
        ),
        .target(
            name: "RandomPrograms",
            dependencies: ["TestSupport", "UVRunLoop", "UVRunLoopTesting"],
            path: "Tests/RandomPrograms"
        ),
        .executableTarget(
            name: "RandomProgramRunner",
            dependencies: ["RandomPrograms"],
            path: "Tests/Support/RandomProgramRunner"
        ),
        .testTarget(
            name: "UVRunLoopTests",
            dependencies: [
                "CUV", "CUVSupport", "UVRunLoop", "TestSupport", "DispatchProbe", "TaskProbe",
            ],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "TaskTests",
            dependencies: [
                "UVRunLoop", "UVRunLoopTesting", "TestSupport", "AsyncMainProbe", "TaskProbe",
            ],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "ProtocolTests",
            dependencies: ["UVRunLoop", "TestSupport"],
            swiftSettings: optimised
        ),
        .testTarget(name: "RandomProgramTests", dependencies: ["RandomPrograms"]),
        .testTarget(
            name: "UVRunLoopPortsTests",
            dependencies: ["UVRunLoop", "UVRunLoopPorts", "UVRunLoopTesting", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "UVRunLoopSystemTests",
            dependencies: ["CUV", "UVRunLoop", "UVRunLoopPorts", "UVRunLoopSystem", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "UVRunLoopFoundationTests",
            dependencies: ["UVRunLoop", "UVRunLoopFoundation", "UVRunLoopTesting", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "UVRunLoopTestingTests",
            dependencies: ["UVRunLoop", "UVRunLoopTesting", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "KeyValueTests",
            dependencies: ["KeyValue", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "TallyTests",
            dependencies: ["Tally", "UVRunLoop", "UVRunLoopPorts", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "UVRunLoopBacktracesTests",
            dependencies: ["UVRunLoop", "UVRunLoopBacktraces", "TestSupport"],
            swiftSettings: unoptimised
        ),
        .testTarget(name: "GuideTests", dependencies: ["Guide", "TestSupport"]),
        .testTarget(name: "ExampleTests", dependencies: ["FirstLine", "TestSupport"]),
        .testTarget(
            name: "CookbookTests",
            dependencies: [
                "Chat", "Follow", "Lookup", "Rerun", "Schedule", "TestSupport", "UVRunLoop",
                "UVRunLoopTesting",
            ],
            swiftSettings: unoptimised
        ),
    ],
    swiftLanguageModes: [.v6]
)
