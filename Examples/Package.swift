// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Small programs on the library, and the code of the README and of the recipes. Nothing here is installed.
//   swift build --package-path Examples
import PackageDescription

let reachability = Target.Dependency.product(name: "Reachability", package: "reach")
let sessionManager = Target.Dependency.product(name: "SessionManager", package: "reach")
let extras = Target.Dependency.product(name: "SessionManagerExtras", package: "reach")
let xml = Target.Dependency.product(name: "SessionManagerXML", package: "reach")
let webSockets = Target.Dependency.product(name: "WebSockets", package: "reach")
let testing = Target.Dependency.product(name: "ReachTesting", package: "reach")
let outbox = Target.Dependency.product(name: "Outbox", package: "reach")

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "reach", path: "..")],
    targets: [
        .executableTarget(name: "quick-start", dependencies: [sessionManager]),
        .executableTarget(name: "first-steps", dependencies: [reachability]),
        .executableTarget(name: "status-led", dependencies: [reachability]),
        .executableTarget(name: "wait-and-run", dependencies: [reachability]),
        .executableTarget(name: "fetch-user", dependencies: [sessionManager]),
        .executableTarget(name: "own-queue", dependencies: [reachability]),
        .executableTarget(name: "device", dependencies: [sessionManager]),
        .executableTarget(name: "live", dependencies: [webSockets]),
        .executableTarget(name: "meter", dependencies: [outbox]),
        .executableTarget(name: "ota", dependencies: [sessionManager]),
        .target(name: "Recipes", dependencies: [reachability, sessionManager, extras, outbox, webSockets]),
        .target(name: "XMLRecipes", dependencies: [sessionManager, xml]),
        .testTarget(name: "ExampleTests", dependencies: ["device", "meter", "ota", "own-queue", testing]),
    ],
    swiftLanguageModes: [.v6]
)
