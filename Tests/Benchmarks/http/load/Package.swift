// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// The session manager as a row of the HTTP benchmarks. Its folder must not be named like a clone of the
// project: SwiftPM would take the one for the other.
import PackageDescription

let package = Package(
    name: "ReachHTTPBench",
    dependencies: [.package(name: "reach", path: "../../../..")],
    targets: [
        .executableTarget(
            name: "reach-http-bench",
            dependencies: [.product(name: "SessionManager", package: "reach")],
            path: "Sources/ReachHTTPBench"
        )
    ],
    swiftLanguageModes: [.v6]
)
