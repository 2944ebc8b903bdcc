// SPDX-License-Identifier: Apache-2.0

/// Where the kernel tells of memory pressure.
package enum PressureFiles {
    /// The file for the whole system.
    package static let system = "/proc/pressure/memory"

    /// The file for the control group that a process is in, which has a limit of its own perhaps (cgroups(7)).
    ///
    /// Nil where there is no hierarchy of version 2, or the process is in its root: that is the whole system.
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
