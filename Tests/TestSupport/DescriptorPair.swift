// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc

/// Two connected, non-blocking stream sockets.
package final class DescriptorPair: Sendable {
    package let near: OwnedDescriptor
    package let far: OwnedDescriptor

    package init() throws(ReactorError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ReactorError("socketpair", errno: errno) }
        near = OwnedDescriptor(adopting: ends[0])
        far = OwnedDescriptor(adopting: ends[1])
    }

    /// Makes the near end readable.
    package func signal() { Self.put(far.number) }

    /// Writes one byte.
    package static func put(_ descriptor: Int32) {
        var byte: UInt8 = 1
        _ = write(descriptor, &byte, 1)
    }

    /// Reads all available bytes; returns their number.
    @discardableResult
    package static func drain(_ descriptor: Int32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4096)
        return read(descriptor, &buffer, buffer.count)
    }
}
