// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Hands the content on as it is and accepts every response.
public struct DataResponseSerializer: ResponseSerializer, Equatable {
    /// A serializer.
    public init() {}

    /// The content.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Data> {
        SerializedResponse(data)
    }
}
