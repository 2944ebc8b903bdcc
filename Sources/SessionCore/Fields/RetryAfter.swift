// SPDX-License-Identifier: Apache-2.0

/// When a server wants to be asked again (`Retry-After`, RFC 9110 §10.2.3).
package enum RetryAfter: Sendable, Equatable {
    /// After so many seconds.
    case delay(seconds: Int64)
    /// Not before this.
    case date(HTTPDate)

    /// Reads a number of seconds or a date; nil for anything else.
    package init?(_ text: String, now: HTTPDate) {
        let text = text.trimmingBlanks
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .delay(seconds: min(Int64(text) ?? .max, 1 << 40))
        } else if let date = HTTPDate(String(text), now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// How long to wait, counted from the arrival of `response`; nil where it does not say, or nonsense.
    ///
    /// A date is reckoned by the server's own clock where the response tells its time: devices wake up in 1970.
    package static func delay(in response: SessionResponse, now: HTTPDate) -> Duration? {
        guard let text = response.values(forField: "retry-after").first,
            let value = RetryAfter(text, now: now)
        else { return nil }
        switch value {
        case .delay(let seconds): return .seconds(seconds)
        case .date(let date):
            let sent = response.values(forField: "date").first.flatMap { HTTPDate($0, now: now) }
            return .seconds(max(0, date.seconds - (sent ?? now).seconds))
        }
    }
}
