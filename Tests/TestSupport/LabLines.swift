// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Splits a child's output into lines; used by the loop that reads it.
final class LabLines {
    let descriptor: OwnedDescriptor
    private let give: (String) -> Void
    private var rest: [UInt8] = []

    /// Reads a descriptor that does not block.
    init(_ descriptor: consuming OwnedDescriptor, _ give: @escaping (String) -> Void) {
        self.descriptor = descriptor
        self.give = give
    }

    /// Reads all available bytes; false at the end of the stream.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor.number, &buffer, buffer.count)
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            rest += buffer.prefix(count)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                give(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
    }

    /// Reads the rest, including an unfinished line.
    func finish() {
        _ = read()
        if !rest.isEmpty { give(String(decoding: rest, as: UTF8.self)) }
        rest = []
    }
}
