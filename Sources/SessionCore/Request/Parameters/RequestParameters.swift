// SPDX-License-Identifier: Apache-2.0

/// Parameters of one request by name, of any encodable types: literals, variables, optionals, dictionaries.
///
///     ["fields": "id,name", "limit": limit, "since": optionalDate]
///
/// What is nil is left out; ``ParameterValue/null`` is a name without a value. A dictionary of one type of
/// values, such as `[String: Int]`, is one too.
public typealias RequestParameters = [String: (any Encodable)?]

extension ParameterValue {
    /// The values of parameters by name, without those that are nil.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` with the value's own error underneath.
    public init(_ parameters: RequestParameters) throws(SessionError) {
        var values = Parameters(minimumCapacity: parameters.count)
        for (name, value) in parameters {
            guard let value else { continue }
            do throws(SessionError) {
                values[name] = try ParameterValue(encoding: value)
            } catch {
                throw error.with(message: "the parameter \(TextQuote(name)): \(error.message)")
            }
        }
        self = .dictionary(values)
    }
}
