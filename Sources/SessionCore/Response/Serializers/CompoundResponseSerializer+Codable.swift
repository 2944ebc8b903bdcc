// SPDX-License-Identifier: Apache-2.0

extension CompoundResponseSerializer: Codable {
    private enum CodingKeys: String, CodingKey { case validation, serializers }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode([StoredResponseSerializer].self, forKey: .serializers).map(\.serializer),
            validation: try container.decode(ResponseValidation.self, forKey: .validation))
    }

    /// Writes the rules and the serializers.
    ///
    /// - Throws: `EncodingError` where one is not of this library: its type could not be found again.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(validation, forKey: .validation)
        let stored = try serializers.map {
            try StoredResponseSerializer($0, at: container.codingPath + [CodingKeys.serializers])
        }
        try container.encode(stored, forKey: .serializers)
    }
}
