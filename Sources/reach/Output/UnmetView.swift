// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionManager

/// The text of `reach wait` at its time limit: a sentence, and the fault of each link.
enum UnmetView {
    /// The whole text, ending with a line feed.
    static func text(
        _ report: Report, _ condition: WaitCondition, stable: Duration, waited: Duration, _ style: Style
    ) -> String {
        let host = report.subject.map { "\($0) " } ?? ""
        let holds = stable > .zero ? " for \(seconds(stable)) on end" : ""
        let found = instead(report, condition)
        let sentence = "\(host)not \(condition.words)\(holds) after \(seconds(waited)): \(found)"
        return text(sentence, report, condition, style)
    }

    /// The text of a wait that was given up because no link has a carrier.
    static func text(
        _ report: Report, _ condition: WaitCondition, withoutCarrier limits: WaitLimits, _ style: Style
    ) -> String {
        let host = report.subject.map { "\($0) " } ?? ""
        return text(
            "\(host)not \(condition.words): \(condition.withoutCarrier(limits))", report, condition, style)
    }

    private static func text(
        _ sentence: String, _ report: Report, _ condition: WaitCondition, _ style: Style
    ) -> String {
        var text = style.sentence(sentence, after: "reach: ") + "\n"
        let links = report.links.filter { condition.considers($0.name) }
        for name in condition.interfaces where !links.contains(where: { $0.name == name }) {
            text += style.text("  \(name): there is no such interface") + "\n"
        }
        let noise = LinkTable.noise(in: links, report.path)
        let shown = LinkTable.ordered(links, report.path).filter { !noise.contains($0) }
        let width = shown.map { SafeText.width(style.text($0.name)) }.max() ?? 0
        for link in shown {
            let name = LinkTable.padded(style.text(link.name), width)
            let found = condition.goal == .internet ? LinkTable.internet(report.uplink(link)) : ""
            let lines = style.wrap(found + condition.unmet(link, report.path), indent: width + 4)
            text +=
                "  \(name)  " + lines.joined(separator: "\n" + String(repeating: " ", count: width + 4))
                + "\n"
        }
        return text + LinkTable.hidden(noise.count, style)
    }

    /// The current state in place of the condition: the path, or the reason why there is none.
    private static func instead(_ report: Report, _ condition: WaitCondition) -> String {
        let path = report.path
        guard path.isOnline, path.reason.code != .local, let interface = path.interface else {
            return Headline.reason(report)
        }
        let over = path.underlay.map { " over \($0)" } ?? ""
        if condition.goal == .internet {
            guard condition.considers(interface) else {
                let considered = report.uplinks.filter { condition.considers($0.interface) }
                return InternetSentence.text(considered, boot: report.boot)
                    ?? "the server has not answered yet"
            }
            guard let internet = report.internet, internet != .unknown else {
                return "\(interface)\(over) has a path, the server has not answered yet"
            }
            return "\(interface)\(over) has a path, internet \(internet): \(internet.explanation)"
        }
        switch report.status {
        case .wired: return "wired through \(interface)\(over)"
        case .wifi: return "Wi-Fi through \(interface)\(over)"
        case .unreachable, .unknown: return "\(interface) has a path, waiting for it to be stable"
        }
    }

    /// "30 s", "0.5 s".
    static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration.inNanoseconds / 1_000_000
        let whole = milliseconds / 1000
        var fraction = String(milliseconds % 1000 + 1000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? "\(whole) s" : "\(whole).\(fraction) s"
    }
}

extension WaitCondition {
    /// The fault of a link for the condition; `report` is the link's.
    func unmet(_ link: LinkReport, _ path: ReachabilityPath) -> String {
        let sentence = LinkTable.sentence(link, path)
        switch goal {
        case .reachable, .internet: return link.isOnline ? "online: \(sentence)" : sentence
        case .unreachable: return link.isOnline ? "is online: \(sentence)" : "offline: \(sentence)"
        case .wifi where !Self.mayBeWiFi(link.medium): return "\(link.medium), not Wi-Fi"
        case .wired where link.medium == .wifi: return "Wi-Fi, not wired"
        case .wifi, .wired: return link.isOnline ? "online: \(sentence)" : sentence
        }
    }

    // A link on top of others may be carried by Wi-Fi.
    private static func mayBeWiFi(_ medium: Medium) -> Bool {
        switch medium {
        case .wifi, .tunnel, .bridge, .bond, .vlan: true
        case .ethernet, .cellular, .virtual, .loopback, .other: false
        }
    }
}
