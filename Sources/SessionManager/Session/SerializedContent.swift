// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// What a serializer made of the content, whatever it makes.
typealias SerializedContent = SerializedResponse<any Sendable>

extension ResponseSerializer {
    func content(_ data: Data?, of response: SessionResponse?) -> SerializedContent {
        let result = serialize(data, response: response)
        return SerializedContent(result.value, error: result.error)
    }
}
