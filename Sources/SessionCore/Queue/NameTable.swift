// SPDX-License-Identifier: Apache-2.0

/// Gives names small numbers while they are used.
struct NameTable: Sendable {
    private var numbers: [String: Int32] = [:]
    private var names: [String] = []
    private var users: [Int32] = []
    private var free: [Int32] = []

    /// The number of a name, which has one user more.
    mutating func enter(_ name: String) -> Int32 {
        if let number = numbers[name] {
            users[Int(number)] += 1
            return number
        }
        let number = free.popLast() ?? Int32(names.count)
        if Int(number) == names.count {
            names.append(name)
            users.append(1)
        } else {
            names[Int(number)] = name
            users[Int(number)] = 1
        }
        numbers[name] = number
        return number
    }

    /// One user less; true where it was the last, and the number means nothing any more.
    mutating func release(_ number: Int32) -> Bool {
        users[Int(number)] -= 1
        guard users[Int(number)] == 0 else { return false }
        numbers[names[Int(number)]] = nil
        names[Int(number)] = ""
        free.append(number)
        return true
    }

    /// Numbers given so far, those without a user included.
    var count: Int { names.count }
}
