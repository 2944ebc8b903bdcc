// SPDX-License-Identifier: Apache-2.0

import SessionManager

// What a proxy means that the environment names.
extension DiagnosisRules {
    /// - Parameters:
    ///   - host: The server that was asked for.
    ///   - worksWithout: whether the server accepts connections without the proxy; nil if not tried.
    static func proxy(
        _ choice: ProxyChoice, _ seen: ProxyObservation, host: String, worksWithout: Bool?
    ) -> Finding {
        let (place, variable) = (choice.place, choice.variable ?? "the configuration")
        let why: String
        switch seen {
        case .connection(let connection):
            switch connection.outcome {
            case .connected:
                return .good(
                    .proxy,
                    "\(variable) leads through \(place), which answers after \(text(connection.took))"
                )
            case .refused: why = "nothing listens there"
            case .timedOut: why = "nothing answers there within \(text(connection.took))"
            case .failed(let words): why = "\(words)"
            case .rejected(let rejection): why = rejection.sentence
            }
        case .name(.noSuchName), .name(.found): why = "its name has no address"
        case .name(.noAnswer): why = "no name server answers for it"
        case .name(.failed(let words)): why = "looking up its name failed: \(words)"
        }
        let advice =
            worksWithout == true
            ? "without the proxy \(host) can be reached: unset \(variable), or add \(host) to no_proxy"
            : "correct \(variable) where it is set (env, /etc/environment, the unit of a service), or start the proxy"
        return .failed(.proxy, "\(variable) leads through \(place), and \(why)", try: advice)
    }
}
