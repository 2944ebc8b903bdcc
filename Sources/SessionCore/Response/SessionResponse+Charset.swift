// SPDX-License-Identifier: Apache-2.0

extension SessionResponse {
    /// The parameter `charset` of `Content-Type`, lower case; nil where there is none.
    public var charset: String? {
        guard let field = value(forField: "content-type") else { return nil }
        for parameter in field.split(separator: ";").dropFirst() {
            guard let equals = parameter.firstIndex(of: "="),
                parameter[..<equals].trimmingBlanks.lowercased() == "charset"
            else { continue }
            let value = parameter[parameter.index(after: equals)...].prefix { $0 != "," }.trimmingBlanks
            let name = value.drop { $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" }
            return name.isEmpty ? nil : name.lowercased()
        }
        return nil
    }
}
