// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import Synchronization
import TestSupport

/// A wall clock that a test sets; nothing keeps it right in the beginning.
final class FakeClock: Sendable {
    let timer = SettableTimer()
    private let state = Mutex(ClockStatus(isSynchronized: false, seconds: 40))

    var calls: ClockCalls {
        ClockCalls(
            status: { [self] in state.withLock { $0 } },
            openTimer: { [timer] () throws(ReactorError) in try timer.open() })
    }

    /// Without setting it.
    func show(_ seconds: Int64, isSynchronized: Bool = false) {
        state.withLock { $0 = ClockStatus(isSynchronized: isSynchronized, seconds: seconds) }
    }

    /// Sets it to the present.
    func set(isSynchronized: Bool = true) {
        show(1_795_000_000, isSynchronized: isSynchronized)
        timer.fire()
    }
}

/// A manager whose clock a test sets, beside a server whose certificate is not valid by it.
///
/// The server begins with another certificate when the test says so: nothing else makes one of 2048 valid.
struct ClockLab {
    let origin: TestSupport.Origin
    let clock = FakeClock()
    let port: SwitchedPort
    let manager: URLSessionManager
    let held = EventLog<HoldReason>()

    init(
        at listener: OriginListener = .future, pinning: SecurityPolicy.PinningMode = .none,
        _ change: (inout RequestQueue.Settings) -> Void = { _ in }
    ) async throws {
        origin = try await TestSupport.Origin.shared
        port = try await SwitchedPort(to: origin.port(listener))
        var configuration = SessionConfiguration()
        configuration.hostAddresses = ["origin.test:\(port.port):127.0.0.1"]
        configuration.proxy = ""
        var queue = RequestQueue.Settings()
        queue.follows = .none
        queue.clock = clock.calls
        change(&queue)
        var policy = SecurityPolicy(pinningMode: pinning)
        policy.trustRoots = .only(.file(origin.pem(.root)))
        if pinning != .none {
            policy.pinnedCertificates = try Set(CertificateFiles.certificates(inFile: origin.der(.root)))
        }
        // The pinned certificate alone verifies the others.
        policy.allowInvalidCertificates = pinning == .certificate
        manager = URLSessionManager(configuration: configuration, securityPolicy: policy, queue: queue)
    }

    /// The certificate is valid from the next connection on.
    func becomeValid() { port.lead(to: origin.port(.https)) }

    func request(_ path: String = "/get", _ method: HTTPRequest.Method = .get, body: RequestBody? = nil)
        throws
        -> SessionRequest
    {
        try SessionRequest("https://origin.test:\(port.port)\(path)", method: method, body: body)
    }

    /// A task that was resumed; its waits are in ``held``.
    func task(_ request: SessionRequest, _ change: (inout TaskOptions) -> Void = { _ in }) throws
        -> SessionTask
    {
        var options = TaskOptions()
        change(&options)
        let task = try manager.dataTask(with: request, options: options)
        let end = task.observeEvents { [held, identifier = task.identifier] event in
            if case .held(let other, let reason) = event, other.identifier == identifier {
                held.append(reason)
            }
        }
        task.observeEnd { _ in Task { end() } }
        task.resume()
        return task
    }
}
