// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Changes content before it is decoded.
public protocol DataPreprocessor: Sendable {
    /// The content to decode.
    func preprocess(_ data: Data) throws(SessionError) -> Data
}

/// Takes away the prefix `)]}',` and a line break, which keeps other pages from running JSON as a script.
///
/// Content without the prefix stays as it is.
public struct GoogleXSSIPreprocessor: DataPreprocessor, Equatable, Codable {
    /// A preprocessor.
    public init() {}

    /// The content without the prefix.
    public func preprocess(_ data: Data) throws(SessionError) -> Data {
        let prefix: StaticString = ")]}',\n"
        return data.span.holds(prefix, at: 0) ? data.dropFirst(prefix.utf8CodeUnitCount) : data
    }
}

/// A serializer behind a preprocessor; made by ``ResponseSerializer/preprocessing(_:)``.
public struct PreprocessedResponseSerializer<
    Base: ResponseSerializer, Preprocessor: DataPreprocessor
>: ResponseSerializer {
    /// The serializer.
    public var base: Base
    /// What comes before it.
    public var preprocessor: Preprocessor

    /// What the serializer makes of the changed content.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Base.Value> {
        guard let data else { return base.serialize(nil, response: response) }
        do throws(SessionError) {
            return base.serialize(try preprocessor.preprocess(data), response: response)
        } catch {
            let failure = error.with(failingURL: response?.url, response: response, data: data)
            return SerializedResponse(nil, error: failure)
        }
    }
}

extension PreprocessedResponseSerializer: Equatable where Base: Equatable, Preprocessor: Equatable {}
extension PreprocessedResponseSerializer: Codable where Base: Codable, Preprocessor: Codable {}

extension ResponseSerializer {
    /// This serializer behind a preprocessor, for instance a ``GoogleXSSIPreprocessor``.
    public func preprocessing<Preprocessor: DataPreprocessor>(
        _ preprocessor: Preprocessor
    ) -> PreprocessedResponseSerializer<Self, Preprocessor> {
        PreprocessedResponseSerializer(base: self, preprocessor: preprocessor)
    }
}
