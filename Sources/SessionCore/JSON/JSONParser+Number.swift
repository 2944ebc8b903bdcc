// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads the number that begins at `position`.
    mutating func readNumber(_ bytes: Span<UInt8>) throws(JSONParseError) -> JSONValue {
        let start = position
        var digits = Digits()
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let leading = position
        try readDigits(bytes, into: &digits)
        guard position - leading == 1 || bytes[leading] != UInt8(ascii: "0") else {
            throw fault("a number begins with 0 only if it is less than 1", bytes, at: leading)
        }
        var isWhole = true
        if next(bytes) == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            let point = position
            try readDigits(bytes, into: &digits)
            digits.exponent = point - position
        }
        if next(bytes) == UInt8(ascii: "e") || next(bytes) == UInt8(ascii: "E") {
            isWhole = false
            position += 1
            let sign = next(bytes)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            var exponent = Digits()
            try readDigits(bytes, into: &exponent)
            // Beyond that the text itself is converted.
            digits.isExact = digits.isExact && exponent.isExact && exponent.value < 1000
            if digits.isExact {
                digits.exponent += sign == UInt8(ascii: "-") ? -Int(exponent.value) : Int(exponent.value)
            }
        }
        if isWhole, digits.isExact, let value = whole(digits.value, isNegative) { return value }
        if !isWhole, let value = digits.double { return .number(isNegative ? -value : value) }
        let text = copy(bytes, start..<position)
        guard !isWhole, let value = Double(text), value.isFinite else { return .bigNumber(text) }
        return .number(value)
    }

    private func whole(_ magnitude: UInt64, _ isNegative: Bool) -> JSONValue? {
        if isNegative {
            return magnitude <= Int64.min.magnitude
                ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
        }
        return magnitude <= UInt64(Int64.max) ? .integer(Int64(magnitude)) : .unsigned(magnitude)
    }

    private func next(_ bytes: Span<UInt8>) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        for index in range { text.append(bytes[index]) }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func readDigits(_ bytes: Span<UInt8>, into digits: inout Digits) throws(JSONParseError) {
        let start = position
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            digits.append(digit)
            position += 1
        }
        guard position > start else { throw fault("a digit is expected", bytes) }
    }
}

/// The digits of a number and where its point is: `value` × 10^`exponent`.
private struct Digits {
    var value: UInt64 = 0
    var exponent = 0
    /// Whether `value` holds all digits.
    var isExact = true

    mutating func append(_ digit: UInt8) {
        let (product, overflows) = value.multipliedReportingOverflow(by: 10)
        let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
        isExact = isExact && !overflows && !carries
        value = sum
    }

    /// The number, where one multiplication or division of two exact numbers gives it: correctly rounded.
    var double: Double? {
        guard isExact, value <= 1 << 53, exponent.magnitude <= 22 else { return nil }
        let power = Self.powers[Int(exponent.magnitude)]
        return exponent < 0 ? Double(value) / power : Double(value) * power
    }

    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
