// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ServiceCore
import SessionManager

// Judges the server's answer, or its absence.
extension DiagnosisRules {
    /// - Parameter inTheClear: the same host's answer without TLS, which a captive portal may give in its
    ///   place; nil if it was not probed.
    static func answer(
        _ seen: ExchangeObservation, url: URL, inTheClear: ExchangeObservation? = nil
    ) -> Finding {
        let host = url.host() ?? ""
        if let inTheClear, let sign = sign(of: inTheClear, host) { return portal("\(host) \(sign)") }
        switch seen.outcome {
        case .answered(let status, _): return answer(status, seen, url)
        case .silent:
            return .failed(
                .answer, "the connection to \(host) stands, and then nothing comes",
                try: "the server hangs, or a device on the way lets only small packets through")
        case .notValidNow(let words, let evidence):
            return .failed(.answer, sentence(words, evidence, host: host), try: advice(for: evidence))
        case .otherServer(let words):
            return .failed(
                .answer, words,
                try: "another server answers in its place: a page to sign in, a proxy, or a wrong address")
        case .unknownAuthority(let words):
            return .failed(
                .answer, words,
                try:
                    "another server may answer in its place: a page to sign in (open a browser), or a proxy that reads along, whose root has to be trusted (--cacert); or install ca-certificates"
            )
        case .libraryMissing(let words): return .skipped(.answer, words)
        case .brokenTLS(let words), .failed(let words):
            return .failed(.answer, words, try: "see reach get -o /dev/null \(url.textWithoutUser)")
        }
    }

    private static func answer(_ status: Int, _ seen: ExchangeObservation, _ url: URL) -> Finding {
        let host = url.host() ?? ""
        let sentence = "\(host) answers with status \(status)\(words(seen.page))"
        if seen.isExpected == true { return .good(.answer, "\(sentence), as it should") }
        if let sign = sign(of: seen, host) { return portal("\(host) \(sign)") }
        if status >= 500 {
            return .failed(.answer, sentence, try: "the network is fine: the server has a fault of its own")
        }
        if status == 407 {
            return .failed(
                .answer, "a proxy wants a user name", try: "put it into the proxy's URL (http_proxy)")
        }
        guard seen.isExpected == nil else {
            return .failed(
                .answer, "\(sentence), which is not what it should",
                try:
                    "another server answers in its place: sign in with a browser on this network, or correct --probe-status and --probe-body"
            )
        }
        // Over TLS the certificate identifies the server.
        guard seen.page != nil, url.scheme?.lowercased() == "http" else { return .good(.answer, sentence) }
        return Finding(
            check: .answer, verdict: .good, sentence: sentence,
            advice: "a page to sign in looks the same: compare with --probe-body, or ask by https")
    }

    /// Whether a captive portal may be the cause of a failed TLS connection; then TLS is left out as well.
    static func mayBePortal(_ seen: ExchangeObservation) -> Bool {
        switch seen.outcome {
        case .otherServer, .unknownAuthority, .brokenTLS, .failed: true
        case .answered, .silent, .notValidNow, .libraryMissing: false
        }
    }

    /// Whether a captive portal may be the cause of failed connections; not if the neighbour is missing.
    static func mayBePortal(_ seen: [ConnectionObservation]) -> Bool {
        seen.contains { $0.silentNeighbour == nil }
    }

    /// A captive portal that blocks the port of the URL; nil without a sign of one.
    static func portal(_ inTheClear: ExchangeObservation, url: URL) -> Finding? {
        let host = url.host() ?? ""
        return sign(of: inTheClear, host).map { portal("\(host) \($0)") }
    }

    /// The sentence about a captive portal that answered in the host's name; nil if the answer is none.
    private static func sign(of seen: ExchangeObservation, _ host: String) -> String? {
        guard case .answered(let status, let location) = seen.outcome else { return nil }
        if status == 511 { return "is answered for by a page to sign in (status 511)" }
        if let location, let other = otherHost(location, than: host) { return "sends to \(other)" }
        if let target = seen.page?.refresh, let other = otherHost(target, than: host) {
            return "answers with a page that sends to \(other)"
        }
        if seen.page?.isGateway == true { return "is answered for by a page to sign in (WISPr)" }
        return nil
    }

    private static func words(_ page: AnsweredPage?) -> String {
        guard let page else { return "" }
        return page.title.isEmpty ? ", a web page" : ", a web page: \(SafeText.quoted(page.title))"
    }

    private static func portal(_ sentence: String) -> Finding {
        Finding(
            check: .answer, verdict: .failed, sentence: "\(sentence): a captive portal",
            advice: "sign in with a browser on this network, or use another network", isPortal: true)
    }

    /// The host of a redirect to another site; nil within the site.
    private static func otherHost(_ location: String, than host: String) -> String? {
        guard let other = URL(string: location)?.host()?.lowercased(), !other.isEmpty else { return nil }
        let host = host.lowercased()
        // example.com and www.example.com count as one site.
        guard other != host, !other.hasSuffix(".\(host)"), !host.hasSuffix(".\(other)") else { return nil }
        return other
    }

    /// - Parameters:
    ///   - small: the result of the same exchange with small packets.
    ///   - mtu: the link's own limit, if known.
    ///   - largest: what gets from this machine to the server.
    ///   - router: the next router, if there is one.
    static func packets(
        _ small: ExchangeObservation, interface: String?, mtu: Int?,
        largest: SegmentProbe.Outcome = .unknown, router: String? = nil
    ) -> Finding {
        guard case .answered = small.outcome else {
            return .good(.packets, "small packets get no further than big ones")
        }
        return packetsLost(interface: interface, mtu: mtu, largest: largest, router: router)
            ?? .failed(
                .packets, "big packets are lost on the way: with small ones the server answers",
                try: advice(interface, mtu))
    }

    /// The finding about this machine's own large packets; nil where nothing is known of a limit.
    static func packetsLost(
        interface: String?, mtu: Int?, largest: SegmentProbe.Outcome, router: String?
    ) -> Finding? {
        guard case .upTo(let size) = largest else { return nil }
        let thousands = size / 1000
        let rest = "\(1000 + size % 1000)".dropFirst()
        let number = thousands > 0 ? "\(thousands),\(rest)" : "\(size)"
        let location = router.map { "behind \($0)" } ?? "on the way"
        let link = interface.map { "\($0): " } ?? ""
        return .failed(
            .packets,
            "\(link)packets of more than \(number) bytes are lost \(location), and small ones are not",
            try: advice(interface, mtu))
    }

    private static func advice(_ interface: String?, _ mtu: Int?) -> String {
        let link = interface ?? "the interface"
        let limit = mtu.map { " of \($0)" } ?? ""
        return
            "the way takes less than the MTU\(limit) of \(link), and what should say so is filtered: try ip link set \(link) mtu 1280, or have the router clamp the segment size"
    }
}
