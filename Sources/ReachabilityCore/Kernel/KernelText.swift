// SPDX-License-Identifier: Apache-2.0

// The kernel's answers in the words of ip-route(8) and ip-link(8), for `--explain`.

extension RouteAnswer {
    /// "via 192.0.2.1 dev eth0 src 192.0.2.2 metric 100".
    ///
    /// - Parameters:
    ///   - entry: The FIB entry behind this answer, which has metric and legs.
    ///   - names: The names of interfaces; an interface without one is "#2".
    package func text(entry: RouteAnswer?, names: [Int32: String]) -> String {
        func text(_ index: Int32) -> String { names[index] ?? "#\(index)" }
        let legs = entry?.legs ?? legs
        var words: [String] = []
        if kind != .unicast { words.append("\(kind)") }
        if let gateway { words.append("via \(gateway)") }
        if let interface { words.append("dev \(text(interface))") }
        if let source { words.append("src \(source)") }
        if let metric = entry?.metric { words.append("metric \(metric)") }
        if table != 254, table != 0 { words.append("table \(table)") }
        if let nexthop { words.append("nhid \(nexthop)") }
        if !legs.isEmpty { words.append("legs \(legs.map { text($0.interface) }.joined(separator: ","))") }
        return words.joined(separator: " ")
    }
}

extension LinkState {
    /// "<UP,LOWER_UP,RUNNING> state up".
    package var stateText: String {
        let names: [(Flags, String)] = [
            (.up, "UP"), (.lowerUp, "LOWER_UP"), (.running, "RUNNING"), (.dormant, "DORMANT"),
        ]
        let present = names.filter { flags.contains($0.0) }.map(\.1).joined(separator: ",")
        return "<\(present)> state \(operationalState)" + (kind.map { " kind \($0)" } ?? "")
    }
}

extension KernelErrno {
    /// The errno's name and sentence.
    package var text: String {
        switch errno {
        case Self.accessDenied: "EACCES (prohibited)"
        case Self.invalid: "EINVAL (blackhole)"
        case Self.networkUnreachable: "ENETUNREACH (no route)"
        case Self.unsupported: "EOPNOTSUPP (not told by this kernel)"
        case Self.hostUnreachable: "EHOSTUNREACH (unreachable)"
        case Self.noDevice: "ENODEV (no such interface)"
        default: "errno \(errno)"
        }
    }
}
