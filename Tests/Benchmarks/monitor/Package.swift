// swift-tools-version: 6.2
// The smallest program that monitors: what an application pays for the library Reachability alone.
import PackageDescription

let package = Package(
    name: "MonitorOnly",
    dependencies: [.package(name: "Reach", path: "../../..")],
    targets: [
        .executableTarget(
            name: "monitor-only",
            dependencies: [.product(name: "Reachability", package: "Reach")],
            path: "Sources/MonitorOnly"
        )
    ]
)
