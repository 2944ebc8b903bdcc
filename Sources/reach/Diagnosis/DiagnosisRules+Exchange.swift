// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

// What the server's answer means, or that none came.
extension DiagnosisRules {
    /// So many seconds are no matter to certificates and tokens.
    private static let tolerance: Int64 = 300

    static func answer(_ seen: ExchangeObservation, url: URL) -> Finding {
        let host = url.host() ?? ""
        switch seen.outcome {
        case .answered(511, _): return portal("\(host) is answered for by a page to sign in (status 511)")
        case .answered(let status, let location):
            if let location, let other = otherHost(location, than: host) {
                return portal("\(host) sends to \(other)")
            }
            if status >= 500 {
                return .failed(
                    .answer, "\(host) answers with status \(status)",
                    try: "the network is fine: the server has a fault of its own")
            }
            if status == 407 {
                return .failed(
                    .answer, "a proxy wants a user name", try: "put it into the proxy's URL (http_proxy)")
            }
            return .good(.answer, "\(host) answers with status \(status)")
        case .silent:
            return .failed(
                .answer, "the connection to \(host) stands, and then nothing comes",
                try: "the server hangs, or a device on the way lets only small packets through")
        case .notValidNow(let words):
            return .failed(
                .answer, words, try: "look at this machine's clock (date), and at the server's certificate")
        case .otherServer(let words):
            return .failed(
                .answer, words,
                try: "somebody answers in its place: a page to sign in, a proxy, or a wrong address")
        case .unknownAuthority(let words):
            return .failed(
                .answer, words,
                try:
                    "install ca-certificates; behind a proxy that reads along, its own root has to be trusted (--cacert)"
            )
        case .libraryMissing(let words):
            return .skipped(.answer, words)
        case .failed(let words):
            return .failed(.answer, words, try: "see reach get -o /dev/null \(url.absoluteString)")
        }
    }

    private static func portal(_ sentence: String) -> Finding {
        .failed(
            .answer, "\(sentence): a captive portal",
            try: "sign in with a browser on this network, or use another network")
    }

    /// The host of a redirect that leads away from the site; nil within it.
    private static func otherHost(_ location: String, than host: String) -> String? {
        guard let other = URL(string: location)?.host()?.lowercased(), !other.isEmpty else { return nil }
        let host = host.lowercased()
        // example.com and www.example.com belong together, as far as anybody can say.
        guard other != host, !other.hasSuffix(".\(host)"), !host.hasSuffix(".\(other)") else { return nil }
        return other
    }

    static func clock(_ seen: ExchangeObservation) -> Finding? {
        guard let ahead = seen.clockAhead else { return nil }
        guard abs(ahead) > tolerance else { return .good(.clock, "agrees with the server's") }
        let sentence = "this machine's clock is \(span(abs(ahead))) \(ahead > 0 ? "ahead" : "behind")"
        let advice = "set it: timedatectl set-ntp true, or date --set; certificates are judged by it"
        if case .notValidNow = seen.outcome { return .failed(.clock, sentence, try: advice) }
        return .doubtful(.clock, sentence, try: advice)
    }

    /// "3 days", "2 hours", "12 minutes".
    private static func span(_ seconds: Int64) -> String {
        for (unit, length) in [("year", 31_556_952), ("day", 86_400), ("hour", 3600)] as [(String, Int64)]
        where seconds >= length {
            return seconds < 2 * length
                ? "a\(unit == "hour" ? "n" : "") \(unit)" : "\(seconds / length) \(unit)s"
        }
        return "\(seconds / 60) minutes"
    }

    /// - Parameters:
    ///   - small: What the same question came to with packets of at most `size` bytes of content.
    ///   - mtu: The link's own limit, where it is known.
    static func packets(_ small: ExchangeObservation, size: Int, interface: String?, mtu: Int?) -> Finding {
        guard case .answered = small.outcome else {
            return .good(.packets, "small packets get no further than big ones")
        }
        let link = interface ?? "the interface"
        let limit = mtu.map { " of \($0)" } ?? ""
        return .failed(
            .packets, "big packets are lost on the way: with small ones the server answers",
            try:
                "the way takes less than the MTU\(limit) of \(link), and what should say so is filtered: try ip link set \(link) mtu 1280, or have the router clamp the segment size"
        )
    }
}
