// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager
import TestSupport

extension Lab {
    /// The outcome of a request for one of the origin's faults, of which a megabyte is kept at most.
    static func outcome(
        ofFault path: String, _ change: (inout SessionRequest) -> Void = { _ in }
    ) async throws -> TaskOutcome {
        let lab = try await Lab { $0.maximumContentLengthInMemory = 1 << 20 }
        var request = try SessionRequest(lab.origin.faultURL("/fault/\(path)"))
        request.options.timeoutInterval = .seconds(30)
        change(&request)
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        return await task.outcome()
    }
}
