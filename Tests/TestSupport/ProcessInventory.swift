// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The open descriptors and threads of this process, for tests of leaks in a process of their own.
package struct ProcessInventory: Sendable, Hashable, CustomStringConvertible {
    /// The target of each open descriptor, sorted.
    package var descriptors: [String]
    /// The names of the threads, sorted.
    package var threads: [String]

    /// Reads the current state.
    package init() {
        // The directory being read is open itself, and closed when its link is read. Timer descriptors belong
        // to libdispatch, which opens them at any time; no other code uses any.
        descriptors = Self.names(in: "/proc/self/fd").compactMap { Self.target(of: "/proc/self/fd/\($0)") }
            .filter { $0 != "anon_inode:[timerfd]" }.sorted()
        threads = Self.names(in: "/proc/self/task")
            .compactMap { Self.line(of: "/proc/self/task/\($0)/comm") }.sorted()
    }

    package var description: String { "descriptors \(descriptors), threads \(threads)" }

    /// Waits, for at most ten seconds, until no thread of this name is left and no descriptor beyond `before`
    /// is open.
    ///
    /// The runtime's own threads come and go.
    ///
    /// - Returns: what is left beyond that; empty without a leak.
    package static func leftovers(since before: ProcessInventory, threadsNamed name: String) async -> [String]
    {
        // The kernel has no event for the end of a detached thread, nor for a closed descriptor, so this
        // polls.
        for _ in 0..<1000 where !ProcessInventory().leftovers(since: before, name).isEmpty {
            try? await Task.sleep(for: .milliseconds(10))
        }
        return ProcessInventory().leftovers(since: before, name)
    }

    private func leftovers(since before: ProcessInventory, _ name: String) -> [String] {
        var open = descriptors
        for descriptor in before.descriptors {
            if let index = open.firstIndex(of: descriptor) { open.remove(at: index) }
        }
        return open + threads.filter { $0 == name }
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink(link, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func line(of file: String) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &buffer, buffer.count)
        return count <= 0 ? nil : String(decoding: buffer.prefix(count - 1), as: UTF8.self)
    }
}
