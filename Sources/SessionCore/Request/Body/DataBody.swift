// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A body that is in memory.
package struct DataBody: BodySource {
    package let data: Data

    package init(_ data: Data) { self.data = data }

    package var length: Int64? { Int64(data.count) }
    package var isRewindable: Bool { true }

    package func makeReader() throws(SessionError) -> any BodyReader { DataReader(data) }
}

/// Reads a body that is in memory.
package final class DataReader: BodyReader {
    private let data: Data
    private var position: Int

    package init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let count = min(buffer.count, data.endIndex - position)
        guard count > 0 else { return .end }
        data.copyBytes(to: buffer, from: position..<(position + count))
        position += count
        return .bytes(count)
    }
}
