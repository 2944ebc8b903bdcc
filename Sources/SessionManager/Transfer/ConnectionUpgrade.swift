// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// What a task wants instead of libcurl's exchanges: their connections.
package protocol ConnectionUpgrade: AnyObject, Sendable {
    /// What takes over the connection of the next exchange; called on the loop's thread.
    func takeover(of exchange: UpgradedExchange) -> any ConnectionTakeover
}

/// Sends a request over a connection that libcurl has made, and speaks another protocol there once the server
/// agrees; on the loop's thread, and never called inside libcurl.
package protocol ConnectionTakeover: AnyObject {
    /// Whether ``connected(_:)`` was called.
    var hasConnection: Bool { get }
    /// The connection stands; nothing was sent over it.
    func connected(_ connection: TakenConnection)
    /// The server has answered with status 101; throws where it must not be believed.
    func accept(_ head: SessionResponse) throws(SessionError)
    /// The user stops the bytes, or lets them flow again.
    func setHeld(_ isHeld: Bool)
    /// The connection is about to be closed, or none comes; may be called again.
    func connectionEnds()
}

extension URLSessionManager {
    /// A task whose connections go to another protocol; it is resumed next.
    ///
    /// What the manager and the options say about content and completion does not hold.
    package func task(
        _ request: SessionRequest, _ options: TaskOptions?, upgradedBy upgrade: any ConnectionUpgrade
    ) throws(SessionError) -> SessionTask {
        var plan = plan(options).value
        plan.upgrade = upgrade
        plan.options.completionGroup = nil
        plan.completion = nil
        plan.validation = nil
        plan.cache = nil
        return try task(request, .stream, Shared(plan), isResumedNext: true)
    }
}
