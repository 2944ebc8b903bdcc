// SPDX-License-Identifier: Apache-2.0

/// How long programs wait for memory before that counts as pressure.
///
/// A thread waits for memory while the kernel takes some from another program, or reads back what it took:
/// pressure stall information (Documentation/accounting/psi.rst).
public struct MemoryPressureThreshold: Sendable, Equatable, Codable {
    /// Who has to wait.
    public enum Extent: String, Sendable, Codable, CaseIterable {
        /// At least one thread.
        case some
        /// All that could run, so that no work is done at all.
        case full
    }

    /// Who has to wait; some.
    public var extent = Extent.some
    /// For how long within the window, more than nothing and not longer than it; 150 ms.
    public var stall = Duration.milliseconds(150)
    /// Within which time, 0.5 to 10 s; 2 s.
    ///
    /// Processes without CAP_SYS_RESOURCE may only have multiples of 2 s.
    public var window = Duration.seconds(2)

    /// The defaults.
    public init() {}

    /// What is written to a pressure file, in microseconds.
    ///
    /// - Throws: ``SessionError/Code/unsupportedBySystem`` for times that no kernel takes.
    package var trigger: String {
        get throws(SessionError) {
            guard window >= .milliseconds(500), window <= .seconds(10), stall > .zero, stall <= window,
                Self.microseconds(stall) > 0
            else {
                throw SessionError(
                    .unsupportedBySystem, "a stall of \(stall) within \(window) is no threshold",
                    advice:
                        "choose a window of 0.5 to 10 seconds, and a stall of at least a microsecond within it"
                )
            }
            return "\(extent.rawValue) \(Self.microseconds(stall)) \(Self.microseconds(window))"
        }
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    }
}

/// Where the kernel reports memory pressure.
package enum PressureFiles {
    /// The file for the whole system.
    package static let system = "/proc/pressure/memory"

    /// The file for the control group of a process, which may have a limit of its own (cgroups(7)).
    ///
    /// Nil without a hierarchy of version 2, or in its root, which is the whole system.
    ///
    /// - Parameters:
    ///   - groups: /proc/self/cgroup.
    ///   - mounts: /proc/self/mountinfo (proc_pid_mountinfo(5)).
    package static func own(groups: String, mounts: String) -> String? {
        let entry = groups.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard var path = entry?.dropFirst(3), path != "/" else { return nil }
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count,
                fields[dash + 1] == "cgroup2"
            else { continue }
            // What is mounted may be a part of the hierarchy.
            let root = fields[3]
            if root != "/" {
                guard path == root || path.hasPrefix("\(root)/") else { continue }
                path = path.dropFirst(root.count)
            }
            return "\(unescaped(fields[4]))\(path)/memory.pressure"
        }
        return nil
    }

    /// Blanks and the like are written as three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = field.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
