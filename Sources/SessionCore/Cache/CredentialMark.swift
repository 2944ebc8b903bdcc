// SPDX-License-Identifier: Apache-2.0

/// Tells credentials from others without being them: it goes to disk in their place.
///
/// SipHash-2-4 (Aumasson and Bernstein, 2012) with a random key for each entry, so that no prepared table
/// fits; easily guessed passwords can still be tried.
struct CredentialMark: Sendable, Equatable {
    let key: SIMD2<UInt64>
    let hash: UInt64

    init(key: SIMD2<UInt64>, hash: UInt64) {
        self.key = key
        self.hash = hash
    }

    init(of credentials: String) {
        key = SIMD2(.random(in: 0 ... .max), .random(in: 0 ... .max))
        hash = Self.sipHash(credentials.utf8, key)
    }

    func isOf(_ credentials: String) -> Bool { hash == Self.sipHash(credentials.utf8, key) }

    static func sipHash(_ bytes: some Collection<UInt8>, _ key: SIMD2<UInt64>) -> UInt64 {
        var state = (
            key.x ^ 0x736f_6d65_7073_6575, key.y ^ 0x646f_7261_6e64_6f6d, key.x ^ 0x6c79_6765_6e65_7261,
            key.y ^ 0x7465_6462_7974_6573
        )
        func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
        func round() {
            state.0 &+= state.1
            state.1 = rotate(state.1, 13) ^ state.0
            state.0 = rotate(state.0, 32)
            state.2 &+= state.3
            state.3 = rotate(state.3, 16) ^ state.2
            state.0 &+= state.3
            state.3 = rotate(state.3, 21) ^ state.0
            state.2 &+= state.1
            state.1 = rotate(state.1, 17) ^ state.2
            state.2 = rotate(state.2, 32)
        }
        func absorb(_ word: UInt64) {
            state.3 ^= word
            round()
            round()
            state.0 ^= word
        }
        var (word, count) = (UInt64(0), 0)
        for byte in bytes {
            word |= UInt64(byte) << UInt64(count % 8 * 8)
            count += 1
            if count % 8 == 0 {
                absorb(word)
                word = 0
            }
        }
        absorb(word | UInt64(count) << 56)
        state.2 ^= 0xFF
        for _ in 0..<4 { round() }
        return state.0 ^ state.1 ^ state.2 ^ state.3
    }
}
