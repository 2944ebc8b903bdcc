// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the user namespace of the tests allows (user_namespaces(7)).
enum UserNamespace {
    /// Whether a user number means anything here: policy rules about users that are not mapped cannot be made.
    static func mapsUser(_ user: UInt) -> Bool {
        guard let file = fopen("/proc/self/uid_map", "re") else { return true }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { UInt($0) }
            if numbers.count == 3, user >= numbers[0], user - numbers[0] < numbers[2] { return true }
        }
        return false
    }
}
