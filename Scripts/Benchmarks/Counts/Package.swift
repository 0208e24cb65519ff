// swift-tools-version: 6.2
import PackageDescription

// A package of its own beside the other benchmarks, so that the gate on counts, which continuous
// integration runs, neither resolves nor builds what the library is compared with.
let package = Package(
    name: "Counts",
    dependencies: [.package(name: "UVRunLoop", path: "../../..")],
    targets: [
        .target(name: "MallocCount"),
        .executableTarget(
            name: "CountProbe",
            dependencies: [
                "MallocCount",
                .product(name: "UVRunLoop", package: "UVRunLoop"),
            ],
            // valgrind gives up on debug information that it does not know.
            linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
