// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// URLSession as a row of the HTTP benchmarks: what Foundation brings on Linux.
import PackageDescription

let package = Package(
    name: "URLSessionBench",
    targets: [
        .executableTarget(name: "url-session-bench", path: "Sources/URLSessionBench")
    ]
)
