// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// A small network inside the kernel: the namespace under test, and the one at the far end of its cables.
///
/// Any number of labs run in parallel. A suite that needs them is marked `.enabled(if:
/// NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")")`.
package final class NetworkLab: Sendable {
    /// The namespace under test.
    package let near: NetworkNamespace
    /// The namespace of the cables' far ends: taking one down there removes the carrier here.
    package let far: NetworkNamespace

    /// Builds a network; when this returns, its links have settled.
    package init(_ fixture: Fixture) async throws {
        if let reason = Self.unavailableReason { throw LabError(reason) }
        (near, far) = (try await NetworkNamespace(), try await NetworkNamespace())
        try await build(fixture)
    }

    /// Whether tests with labs run: if the kernel permits them, and if they are required
    /// (`REACH_REQUIRE_NAMESPACES=1`), so that they fail instead of being skipped.
    package static var isAvailable: Bool { isRequired || unavailableReason == nil }

    /// Why the kernel refuses them; nil if it does not.
    ///
    /// Tried once.
    package static let unavailableReason: String? = probe()

    /// Whether a test that cannot have a namespace, or a device in one, has to fail.
    package static var isRequired: Bool {
        getenv("REACH_REQUIRE_NAMESPACES").map { String(cString: $0) } == "1"
    }

    /// Tries all that a lab needs, on a temporary thread.
    private static func probe() -> String? {
        let log = EventLog<String>()
        do {
            let thread = try LoopThread.start(name: "netns-probe") {
                guard clinux_unshare(Int32(CLINUX_CLONE_NEWNET)) == 0 else {
                    let reason = String(cString: strerror(errno))
                    return log.append(
                        "no network namespaces (unshare: \(reason)); run as root or under unshare -Urn")
                }
                do {
                    let errors = try LabFile()
                    let number = errors.descriptor.number
                    let child = try LabChild(
                        ["ip", "link", "add", "v0", "type", "veth", "peer", "name", "p0"], input: number,
                        output: number, errors: number)
                    if child.reap() != .exited(0) { log.append("no veth devices: \(errors.content)") }
                } catch {
                    log.append("\(error)")
                }
            }
            thread.join()
        } catch {
            log.append("\(error)")
        }
        return log.elements.first
    }
}
