// SPDX-License-Identifier: Apache-2.0

extension UInt32 {
    /// The number in decimal.
    ///
    /// `description` does the same through generic code that is 200 KB in memory.
    var decimal: String {
        String(unsafeUninitializedCapacity: 10) { text in
            var digits = 1
            var rest = self / 10
            while rest > 0 {
                digits += 1
                rest /= 10
            }
            rest = self
            for position in stride(from: digits - 1, through: 0, by: -1) {
                text[position] = UInt8(truncatingIfNeeded: 48 + rest % 10)
                rest /= 10
            }
            return digits
        }
    }
}
