// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox

/// What `reach send` and `reach fetch` say of a request alike.
struct StoredRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Send this header field; it is stored.", valueName: "name: value"),
        transform: Value.field)
    var fields: [GivenField] = []

    @Option(
        name: .customLong("priority"),
        help: ArgumentHelp("Lanes whose next request has a greater number go first.", valueName: "number"))
    var priority = 0

    @Option(
        name: .customLong("network"),
        help: ArgumentHelp(
            "Only over such a network: wifi-or-wired, wired-only, not-expensive, not-constrained or internet, which a service with probe.url finds, and which is every network without one. (default: any)",
            valueName: "condition"), transform: Value.networkCondition)
    var condition: NetworkCondition?

    @Option(
        name: .customLong("expires"),
        help: ArgumentHelp("Drop it when so many seconds have passed.", valueName: "seconds"),
        transform: Value.seconds)
    var expires: Duration?

    @Option(
        name: .customLong("maximum-attempts"),
        help: ArgumentHelp(
            "Give it up after so many tries that failed, for whatever reason. (default: never, or as the service is configured)",
            valueName: "n"), transform: Value.count)
    var maximumAttempts: Int?

    func apply(to request: inout OutboxRequest) {
        request.headerFields[.userAgent] = UserAgent(program: "reach", version: Reach.version).description
        for field in fields {
            guard let value = field.value else { continue }
            request.headerFields.append(HTTPField(name: field.name, value: value))
        }
        request.priority = priority
        request.networkCondition = condition ?? .any
        request.expires = expires.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) }
        request.maximumAttempts = maximumAttempts
    }
}
