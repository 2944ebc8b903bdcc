// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension Data {
    /// The same in memory of its own.
    var copied: Data {
        withUnsafeBytes { bytes in
            bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
        }
    }
}
