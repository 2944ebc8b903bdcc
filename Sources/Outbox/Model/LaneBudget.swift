// SPDX-License-Identifier: Apache-2.0

/// What a lane may send over expensive paths in a day of local time.
///
/// Counted is what an attempt has moved over a path whose traffic costs, whatever its outcome: header fields
/// and content, both ways, without what TLS, TCP and repeated packets add. A request that the rest of the
/// day's budget does not suffice for waits, and its lane with it, until a path does not cost, or until the
/// next day. A download stops where the budget ends, and goes on from there.
public struct LaneBudget: Sendable, Equatable {
    /// The most bytes in a day; nil for any number.
    public var bytesPerDay: Int64?
    /// The most requests in a day, repeated ones included; nil for any number.
    public var requestsPerDay: Int?

    /// A budget.
    public init(bytesPerDay: Int64? = nil, requestsPerDay: Int? = nil) {
        (self.bytesPerDay, self.requestsPerDay) = (bytesPerDay, requestsPerDay)
    }

    /// Why a request with so many bytes of content is not sent over an expensive path; nil if it may be.
    func reason(_ spent: LaneSpending, size: Int64) -> String? {
        if let requestsPerDay, spent.requests >= requestsPerDay {
            return
                "budget: \(spent.requests) of \(requestsPerDay) requests used today on expensive paths"
        }
        guard let bytesPerDay, spent.bytes >= bytesPerDay || spent.bytes + size > bytesPerDay else {
            return nil
        }
        let used = "budget: \(ByteText.text(spent.bytes)) of \(ByteText.text(bytesPerDay)) used today"
        return spent.bytes >= bytesPerDay
            ? "\(used) on expensive paths"
            : "\(used) on expensive paths, and the request has \(ByteText.text(size))"
    }

    /// The bytes that are left; nil for any number.
    func rest(_ spent: LaneSpending) -> Int64? { bytesPerDay.map { max($0 - spent.bytes, 0) } }
}

/// What a lane has sent over expensive paths in a day.
struct LaneSpending: Sendable, Equatable {
    var bytes: Int64 = 0
    var requests = 0
}

/// The days of local time.
enum LocalDay {
    /// The day of an instant in milliseconds since 1970, counted from 1970-01-01.
    static func number(at now: Int64, _ offset: LocalOffset) -> Int64 {
        let seconds = now / 1_000
        let local = seconds + offset(seconds)
        return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
    }

    /// The beginning of the next day, in milliseconds since 1970.
    static func next(after now: Int64, _ offset: LocalOffset) -> Int64 {
        let midnight = (number(at: now, offset) + 1) * 86_400
        let guess = midnight - offset(now / 1_000)
        // Clocks may go forward or back until then.
        return (midnight - offset(guess)) * 1_000
    }
}

/// Bytes in words: `5 MB`, `1.3 kB`; 1 kB is 1000 bytes.
enum ByteText {
    /// - Parameter rounding: such that the amount promises nothing.
    static func text(_ bytes: Int64, _ rounding: FloatingPointRoundingRule = .down) -> String {
        guard bytes >= 1_000 else { return "\(bytes) bytes" }
        var (value, unit) = (Double(bytes) / 1_000, 0)
        let units = ["kB", "MB", "GB", "TB"]
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        let tenths = (value * 10).rounded(rounding)
        guard value < 10, Int(tenths) % 10 != 0 else {
            return "\(Int(value.rounded(rounding))) \(units[unit])"
        }
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) \(units[unit])"
    }
}
