// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file as a part of a body: its size is taken now, its content read while it is sent.
package struct FileBody: BodySource {
    package let path: String
    private let size: Int64

    package var length: Int64? { size }
    package var isRewindable: Bool { true }

    /// A file that is there.
    ///
    /// - Throws: ``SessionError/Code/badURL`` with AFNetworking's words where it is not, or is no regular file that may be read.
    package init(path: String) throws(SessionError) {
        self.path = path
        do throws(SessionError) {
            size = try FileReader(path: path).length
        } catch {
            throw SessionError(
                .badURL, "File URL not reachable.", advice: error.message, domain: .requestSerialization,
                underlying: error)
        }
    }

    package func makeReader() throws(SessionError) -> any BodyReader {
        try FileReader(path: path, expected: size)
    }
}
