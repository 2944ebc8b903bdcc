// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// The tests of the adapters, in a package that depends on Reach as a program does, so that each trait can be
// had alone.
//   Tests/run traits
//   swift test --package-path Tests/ReachAdaptersTests --scratch-path .build-traits --traits Metrics
import PackageDescription

let names = ["Metrics", "Logging", "ServiceLifecycle", "Tracing"]

let package = Package(
    name: "ReachAdaptersTests",
    traits: Set(names.map { .trait(name: $0) }),
    dependencies: [
        .package(
            name: "reach", path: "../..",
            traits: Set(names.map { .trait(name: $0, condition: .when(traits: [$0])) })),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .testTarget(
            name: "ReachAdaptersTests",
            dependencies: [
                .product(name: "ReachAdapters", package: "reach"),
                .product(name: "ReachTesting", package: "reach"),
                .product(name: "SessionManager", package: "reach"),
                .product(name: "Outbox", package: "reach"),
                .product(name: "Reachability", package: "reach"),
                .product(
                    name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ],
            path: "Traits")
    ],
    swiftLanguageModes: [.v6]
)
