// SPDX-License-Identifier: Apache-2.0

/// Finds the intended word for a misspelt one.
package enum NearestWord {
    /// The candidate that needs the fewest changes, where these are at most a third of its letters; nil where none is near.
    package static func to(_ word: String, in candidates: some Sequence<String>) -> String? {
        let written = Array(word.lowercased().utf8.prefix(128))
        var best: (word: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(written, Array(candidate.utf8))
            guard distance <= max(1, candidate.utf8.count / 3), distance < best?.distance ?? .max else {
                continue
            }
            best = (candidate, distance)
        }
        return best?.word
    }

    /// How many letters have to be inserted, left out, replaced, or swapped with their neighbour.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...b.count)
        for row in a.indices {
            var next = [row + 1]
            for column in b.indices {
                let isSame = a[row] == b[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            before = last
            last = next
        }
        return last[b.count]
    }
}
