// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Judges a response and hands its content on as it is, also where the response is not acceptable.
public struct HTTPResponseSerializer: ResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable.
    public var validation: ResponseValidation

    /// A serializer; every type is acceptable unless said.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// The content, and an error where the response is not acceptable.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Data> {
        switch validation.judge(response, data: data) {
        case .acceptable: SerializedResponse(data)
        case .unacceptable(let error): SerializedResponse(data, error: error)
        }
    }
}
