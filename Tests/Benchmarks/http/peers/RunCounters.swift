// SPDX-License-Identifier: Apache-2.0

/// The counters that the workers share: the requests left, and how the others ended.
actor RunCounters {
    private var left: Int
    private(set) var good = 0
    private(set) var bad = 0
    private(set) var bytes = 0

    init(_ requests: Int) { left = requests }

    func startNext() -> Bool {
        left -= 1
        return left >= 0
    }

    func record(_ received: Int?) {
        if let received { good += 1; bytes += received } else { bad += 1 }
    }
}
