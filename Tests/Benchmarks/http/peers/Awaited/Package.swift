// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// The reference, awaited by Swift tasks: what the change of threads costs by itself.
import PackageDescription

let package = Package(
    name: "AwaitedBench",
    targets: [
        .systemLibrary(name: "Curl", pkgConfig: "libcurl"),
        .target(name: "Lean", dependencies: ["Curl"], cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(name: "awaited-bench", dependencies: ["Lean"], path: "Sources/AwaitedBench"),
    ]
)
