// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Maintainers and CI build with REACH_STRICT=1: a warning is an error there, and not for those who depend on this.
let warnings: [SwiftSetting] =
    Context.environment["REACH_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []
let strict: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

let package = Package(
    name: "reach",
    products: [
        .library(name: "Reachability", targets: ["Reachability"]),
        .library(name: "SessionManager", targets: ["SessionManager"]),
        .library(name: "SessionManagerExtras", targets: ["SessionManagerExtras"]),
        .library(name: "SessionManagerXML", targets: ["SessionManagerXML"]),
        .library(name: "WebSockets", targets: ["WebSockets"]),
        .library(name: "Outbox", targets: ["Outbox"]),
        .library(name: "ReachAdapters", targets: ["ReachAdapters"]),
        .library(name: "ReachTesting", targets: ["ReachTesting"]),
        .executable(name: "reach", targets: ["reach"]),
    ],
    // Adapters to Swift's service packages. Off by default: then nothing below is resolved or built for them.
    traits: [
        .trait(name: "Metrics", description: "ReachAdapters measures transfers by swift-metrics."),
        .trait(name: "Logging", description: "ReachAdapters logs the steps of tasks by swift-log."),
        .trait(
            name: "ServiceLifecycle",
            description: "ReachAdapters runs monitoring and outbox delivery in a ServiceGroup."),
        .trait(
            name: "Tracing", description: "ReachAdapters traces transfers by swift-distributed-tracing."),
    ],
    dependencies: [
        // Methods, header fields and responses in the types that Swift's HTTP packages share. Without its trait it
        // brings no Foundation; 0.8 MB of static program.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        // The command line of `reach` alone: parsing, help, completion scripts. Costs 7 MB of static program
        // (it brings FoundationEssentials, not ICU), so no library target may depend on it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // The log of `reach serve`: levels and metadata as Swift's services have them, so that what else logs through it
        // comes out in the same lines. 0.1 MB of static program; no library target depends on it.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // The other three are for ReachAdapters alone, each with its trait.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // System libraries and kernel headers, seen from Swift.
        .systemLibrary(
            name: "CNetlink", pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-route-3-dev", "pkg-config"]), .yum(["libnl3-devel"])]),
        .target(name: "CLinux"),
        // The program's arguments, and the executor of its tasks: what Swift's runtime offers to C alone.
        .target(name: "CRuntime"),
        // Opens a library at run time and finds its functions, for the five targets below that need one.
        .target(name: "CLoader", linkerSettings: [.linkedLibrary("dl")]),

        // One thread for everything that waits.
        .target(name: "EventLoop", dependencies: ["CLinux", "CRuntime"], swiftSettings: strict),

        // Pure decisions: imports nothing but the standard library.
        .target(name: "ReachabilityCore", swiftSettings: strict),

        // What enters a monitor as lines of text, and back. Only `reach` records: a program that watches does not
        // carry the 250 KB.
        .target(name: "ReachabilityRecording", dependencies: ["ReachabilityCore"], swiftSettings: strict),

        // The kernel's side: sockets, lookups, the manager.
        .target(
            name: "Reachability",
            dependencies: ["CNetlink", "CLinux", "EventLoop", "ReachabilityCore"], swiftSettings: strict),

        .executableTarget(
            name: "reach",
            dependencies: [
                "CRuntime", "EventLoop", "Reachability", "ReachabilityRecording", "SessionManager",
                "ServiceCore", "Service", "Storage", "Outbox",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),

        // Requests, responses and what is decided about them: no libcurl, no thread, no clock. Uses FoundationEssentials
        // (Data, URL, the Codable coders), never what reaches ICU.
        .target(
            name: "SessionCore",
            dependencies: ["CIDN", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: strict),

        // libidn2, which libcurl has below it, for names of hosts in other letters than ASCII's: opened with the first of them.
        .target(name: "CIDN", dependencies: ["CLoader"]),

        // libcurl's functions, found when the first manager is made: a program that links this starts without
        // libcurl's thirty libraries until it needs them.
        .target(name: "CCurl", dependencies: ["CLoader"]),

        // The OpenSSL that libcurl uses, for security policies: found below libcurl when one needs it.
        .target(name: "COpenSSL", dependencies: ["CLoader"]),

        // zlib's compression for the bodies of requests, opened with the first of them.
        .target(name: "CZlib", dependencies: ["CLoader"]),

        // SQLite's functions, found when the first database is opened; and what is kept in files by them.
        .target(name: "CSQLite", dependencies: ["CLoader"]),
        .target(name: "Storage", dependencies: ["CLinux", "CSQLite"], swiftSettings: strict),

        // libcurl's side: managers, tasks, transfers.
        .target(
            name: "SessionManager",
            dependencies: [
                "CCurl", "COpenSSL", "CZlib", "CLinux", "EventLoop", "SessionCore", "Reachability",
                "ReachabilityCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        // What the service decides and reports as JSON: no descriptor, no thread, no clock. A target of its own because
        // Tests/Fuzz compiles it alone, and because the compiler keeps that ban for its files.
        .target(
            name: "ServiceCore", dependencies: ["ReachabilityCore", "SessionCore"], swiftSettings: strict),

        // `reach serve`: one loop, and the parts that tell the world on it.
        .target(
            name: "Service",
            dependencies: [
                "CLinux", "EventLoop", "ReachabilityCore", "Reachability", "ServiceCore", "SessionCore",
                "SessionManager", "Storage", "Outbox",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        // Requests that wait on the disk. Outbox/Model is what is decided about them, without files and clocks
        // (packaging/checks/imports).
        .target(
            name: "Outbox",
            dependencies: [
                "Storage", "SessionManager", "SessionCore", "EventLoop", "CLinux",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        // Pictures, property lists, assets for several places of a screen, a light that says that the program is busy.
        .target(
            name: "SessionManagerExtras",
            dependencies: [
                "SessionManager", "SessionCore", "Reachability",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        // Swift's service packages, each behind a trait; without traits an empty module. Its tests are a package of their
        // own (Tests/ReachAdaptersTests), which depends on this one with one trait at a time.
        .target(
            name: "ReachAdapters",
            dependencies: [
                "SessionManager", "SessionCore", "Reachability", "Outbox",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: strict),

        // For tests of those who depend on the others: answers without a server, a network and a clock that a test moves.
        .target(
            name: "ReachTesting",
            dependencies: [
                "Outbox", "SessionManager", "SessionCore", "Reachability", "ReachabilityCore", "EventLoop",
                "CLinux", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        // XML alone: FoundationXML brings ICU, 44 MB that nobody else should carry.
        .target(name: "SessionManagerXML", dependencies: ["SessionCore"], swiftSettings: strict),

        // Messages both ways over one connection (RFC 6455): 0.1 MB that a program without them does not carry.
        // WebSockets/Model is what is decided about them, without sockets and clocks (packaging/checks/imports).
        .target(
            name: "WebSockets",
            dependencies: [
                "SessionManager", "SessionCore", "EventLoop", "ReachabilityCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),

        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestSupport", "CLinux", "EventLoop", "ReachabilityCore", "Reachability", "SessionCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "OriginTests", dependencies: ["TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "EventLoopTests", dependencies: ["CLinux", "CTestSupport", "EventLoop", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ReachabilityCoreTests", dependencies: ["ReachabilityCore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ReachabilityRecordingTests", dependencies: ["ReachabilityRecording", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ReachabilityTests", dependencies: ["Reachability", "TestSupport"],
            exclude: ["Recordings"], swiftSettings: strict),
        .testTarget(
            name: "StorageTests", dependencies: ["Storage", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SessionCoreTests",
            dependencies: [
                "SessionCore", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        // What is killed there; no product.
        .executableTarget(
            name: "download-drill", dependencies: ["SessionManager"], path: "Tests/Download/drill",
            swiftSettings: strict),
        .testTarget(
            name: "SessionManagerTests",
            dependencies: [
                "SessionManager", "SessionManagerExtras", "SessionCore", "WebSockets", "ReachTesting",
                "CCurl", "COpenSSL",
                "CTestSupport", "TestSupport",
                "download-drill",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        // What is killed there; no product.
        .executableTarget(
            name: "outbox-drill", dependencies: ["Outbox"], path: "Tests/Outbox/drill", swiftSettings: strict),
        .testTarget(
            name: "OutboxTests",
            dependencies: ["Outbox", "Storage", "ReachTesting", "outbox-drill", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ReachTestingTests",
            dependencies: [
                "ReachTesting", "Outbox", "SessionManager", "SessionCore", "Reachability",
                "ReachabilityCore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SessionManagerExtrasTests",
            dependencies: [
                "SessionManagerExtras", "SessionCore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SessionManagerXMLTests", dependencies: ["SessionManagerXML", "SessionCore"],
            swiftSettings: strict),
        .testTarget(
            name: "WebSocketsTests",
            dependencies: [
                "WebSockets", "SessionManager", "SessionCore", "EventLoop", "ReachTesting", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ServiceCoreTests", dependencies: ["ServiceCore", "SessionCore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "CLinux", "CLoader", "Service", "ServiceCore", "SessionCore", "Storage", "Outbox",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "reachTests",
            dependencies: [
                "reach", "TestSupport", "CTestSupport", "SessionManager", "SessionCore", "ServiceCore",
                "Outbox", "Storage",
            ],
            exclude: ["Golden"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
