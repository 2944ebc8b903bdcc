// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A serializer whose kind does not matter, or one made of a closure.
public struct AnyResponseSerializer<Value: Sendable>: ResponseSerializer {
    private let body: @Sendable (Data?, SessionResponse?) -> SerializedResponse<Value>

    /// A serializer made of a closure, which may be called from many threads at once.
    public init(_ body: @escaping @Sendable (Data?, SessionResponse?) -> SerializedResponse<Value>) {
        self.body = body
    }

    /// A serializer without its type.
    public init(erasing serializer: some ResponseSerializer<Value>) {
        body = { serializer.serialize($0, response: $1) }
    }

    /// What the serializer or closure makes of the response.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Value> {
        body(data, response)
    }
}

extension ResponseSerializer {
    /// A serializer that makes something else out of the objects of this one.
    ///
    /// An error of the closure is the outer one, with this serializer's error underneath.
    public func map<Result>(
        _ transform: @escaping @Sendable (Value) throws(SessionError) -> Result
    ) -> AnyResponseSerializer<Result> {
        AnyResponseSerializer { data, response in
            let result = serialize(data, response: response)
            guard let value = result.value else { return SerializedResponse(nil, error: result.error) }
            do throws(SessionError) {
                return SerializedResponse(try transform(value), error: result.error)
            } catch {
                return SerializedResponse(nil, error: .nesting(result.error, in: error))
            }
        }
    }

    /// This serializer behind a further rule: the closure answers why a response is not acceptable, or nil.
    ///
    /// A refused response is decoded all the same: object and error come together, as with a bad status. An
    /// error of this serializer is the outer one.
    public func validating(
        _ rule: @escaping @Sendable (SessionResponse?, Data?) -> SessionError?
    ) -> AnyResponseSerializer<Value> {
        AnyResponseSerializer { data, response in
            var result = serialize(data, response: response)
            let refusal = rule(response, data).map {
                $0.with(failingURL: response?.url, response: response, data: data)
            }
            result.error = .nesting(refusal, in: result.error)
            return result
        }
    }
}
