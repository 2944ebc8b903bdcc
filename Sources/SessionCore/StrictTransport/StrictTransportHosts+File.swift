// SPDX-License-Identifier: Apache-2.0

// The file of known hosts, in the format that `curl --hsts` reads and writes (CURLOPT_HSTS(3)).
extension StrictTransportHosts {
    /// What was learned, as the content of the file: `HOST "YYYYMMDD HH:MM:SS"` for each host, in UTC.
    ///
    /// A dot stands before a host whose hosts below are known too.
    package func fileContent(at now: Int64) -> String {
        var text =
            "# Hosts that are spoken to by https alone (RFC 6797), with the end of that; as of curl --hsts\n"
        for (name, entry) in learned.sorted(by: { $0.key < $1.key }) where entry.expires > now {
            text += "\(entry.includesSubdomains ? "." : "")\(name) \"\(Self.date(entry.expires))\"\n"
        }
        return text
    }

    /// What is in the file counts as stored from now on.
    package mutating func markStored() {
        for name in learned.keys {
            if let expires = learned[name]?.expires { learned[name]?.storedExpiry = expires }
        }
    }

    /// Adds the hosts of a file; lines that are none, and hosts whose time is over, are skipped.
    ///
    /// Of two lines about one host the later end counts, and the wider reach.
    package mutating func add(fileContent text: String, at now: Int64) {
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let (host, expires) = Self.entry(line), expires > now else { continue }
            let includesSubdomains = host.utf8.first == UInt8(ascii: ".")
            guard let name = Self.name(includesSubdomains ? host.dropFirst() : host) else { continue }
            var entry =
                learned[name] ?? Entry(expires: 0, storedExpiry: 0, includesSubdomains: includesSubdomains)
            guard learned.count < Self.capacity || entry.expires > 0 else { continue }
            entry.expires = max(entry.expires, expires)
            entry.storedExpiry = entry.expires
            entry.includesSubdomains = entry.includesSubdomains || includesSubdomains
            learned[name] = entry
        }
    }

    private static func entry(_ line: Substring.UTF8View) -> (host: Substring, expires: Int64)? {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let line = line.drop(while: isBlank)
        guard let first = line.first, first != UInt8(ascii: "#"), let blank = line.firstIndex(where: isBlank)
        else { return nil }
        let rest = line[blank...].drop(while: isBlank)
        let mark = UInt8(ascii: "\"")
        guard rest.first == mark, let end = rest.dropFirst().firstIndex(of: mark),
            rest[rest.index(after: end)...].allSatisfy(isBlank),
            let expires = seconds(Array(rest[..<end].dropFirst()))
        else { return nil }
        return (Substring(line[..<blank]), expires)
    }

    private static func date(_ seconds: Int64) -> String {
        guard seconds < .max else { return "unlimited" }
        let (day, second) = (seconds / 86_400, seconds % 86_400)
        let date = CivilCalendar.date(days: day)
        let digits: (Int64, Int) -> String = { number, count in
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return digits(date.year, 4) + digits(date.month, 2) + digits(date.day, 2)
            + " \(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
    }

    /// Nil for what is no date, and for one before 1970.
    private static func seconds(_ text: [UInt8]) -> Int64? {
        if text.elementsEqual("unlimited".utf8) { return .max }
        guard text.count == 17, text[8] == 0x20, text[11] == 0x3A, text[14] == 0x3A else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            text[range].allSatisfy { (0x30...0x39).contains($0) }
                ? text[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } : nil
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
            let hour = number(9..<11), let minute = number(12..<14), let second = number(15..<17),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = CivilCalendar.days(year: year, month: month, day: day)
        return days < 0 ? nil : days * 86_400 + hour * 3600 + minute * 60 + second
    }
}
