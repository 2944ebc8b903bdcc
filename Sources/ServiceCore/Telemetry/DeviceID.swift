// SPDX-License-Identifier: Apache-2.0

/// What tells devices apart: a hash of the machine's ID for this program alone.
///
/// The machine's ID itself should not leave it (machine-id(5)). This is what
/// sd_id128_get_machine_app_specific(3) gives, and `systemd-id128 machine-id -a` with ``program`` prints: the
/// ID cannot be found from it, and other programs' hashes of the same ID are others.
package struct DeviceID: Sendable, Hashable, CustomStringConvertible {
    /// This program's ID, chosen at random once.
    package static let program: [UInt8] = [
        0x5d, 0x0c, 0x0a, 0x1f, 0x9c, 0x2e, 0x4b, 0x7e, 0x8a, 0x53, 0xc1, 0xd9, 0x4f, 0x6e, 0x2b, 0x70,
    ]

    private let bytes: [UInt8]

    /// The hash of the content of /etc/machine-id; nil for anything but 32 hexadecimal digits that are not
    /// all zero.
    package init?(machineID text: String) {
        let digits = Array(text.utf8.prefix { $0 != 0x0A })
        guard digits.count == 32, digits.allSatisfy({ $0 != UInt8(ascii: "+") }) else { return nil }
        var machine: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            machine.append(byte)
        }
        guard machine.contains(where: { $0 != 0 }) else { return nil }
        var hash = Array(SHA256.authentication(of: Self.program, key: machine)[..<16])
        // A UUID of version 4 (RFC 9562 §5.4).
        hash[6] = hash[6] & 0x0F | 0x40
        hash[8] = hash[8] & 0x3F | 0x80
        bytes = hash
    }

    /// As a UUID is written.
    package var description: String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            let digits = String(byte, radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        return text
    }
}

/// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) of a few bytes, without a library.
enum SHA256 {
    static func authentication(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let block = key + [UInt8](repeating: 0, count: 64 - key.count)
        return hash(block.map { $0 ^ 0x5C } + hash(block.map { $0 ^ 0x36 } + message))
    }

    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
            0x5be0_cd19,
        ]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], &state) }
        return state.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private static func mix(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
        var words: [UInt32] = []
        for index in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<64 {
            let (a, b) = (words[index - 15], words[index - 2])
            let low = turned(a, 7) ^ turned(a, 18) ^ a >> 3
            let high = turned(b, 17) ^ turned(b, 19) ^ b >> 10
            words.append(words[index - 16] &+ low &+ words[index - 7] &+ high)
        }
        var s = state
        for index in 0..<64 {
            let e = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)
            let choice = s[4] & s[5] ^ ~s[4] & s[6]
            let one = s[7] &+ e &+ choice &+ constants[index] &+ words[index]
            let a = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)
            let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
            s = [one &+ a &+ majority, s[0], s[1], s[2], s[3] &+ one, s[4], s[5], s[6]]
        }
        for index in state.indices { state[index] &+= s[index] }
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
        0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
        0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
        0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
        0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
        0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
        0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]
}
