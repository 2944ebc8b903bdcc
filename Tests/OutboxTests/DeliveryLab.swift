// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport

@testable import Outbox

/// An outbox, its origin, and an account of its own there.
struct DeliveryLab: Sendable {
    let outbox: OutboxLab
    let origin: TestSupport.Origin
    let account = OutboxLab.account()

    init() async throws {
        outbox = try OutboxLab()
        origin = try await Origin.shared
    }

    /// A request whose number the origin counts.
    func request(_ number: Int, lane: String = "default", priority: Int = 0, path: String = "/post?") throws
        -> OutboxRequest
    {
        try OutboxRequest(
            to: origin.url("\(path)key=\(account)&n=\(number)"), lane: lane, priority: priority,
            body: .data(Data("\(number)".utf8)))
    }

    func open(_ change: (inout OutboxConfiguration) -> Void = { _ in }) async throws -> RequestOutbox {
        try await outbox.open(change)
    }

    @discardableResult
    func wait<Value>(_ pick: (OutboxEvent) -> Value?) async throws -> Value { try await outbox.wait(pick) }

    func delivered(_ id: OutboxID) async throws { try await outbox.delivered(id) }

    /// Waits until an entry is a dead letter; says why.
    func died(_ id: OutboxID) async throws -> OutboxFailure {
        try await wait { event -> OutboxFailure? in
            if case .died(id, let failure) = event { failure } else { nil }
        }
    }
}
