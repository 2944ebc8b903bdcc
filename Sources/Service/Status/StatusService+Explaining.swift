// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import ServiceCore

/// Fresh evaluations, of anywhere or of one host.
extension StatusService {
    /// The most simultaneous name lookups, each on a thread of its own.
    private static let lookUpLimit = 8

    func explain(_ host: String?, _ answer: @escaping (VarlinkReply) -> Void) {
        guard let host, ReachabilityDestination(host) == nil else {
            return answer(explanation(of: host, Self.result(of: look, host)))
        }
        guard let context, lookUps < Self.lookUpLimit else {
            return answer(.limit("\(Self.lookUpLimit) names are being looked up already"))
        }
        // getaddrinfo(3) waits as long as resolv.conf(5) says.
        lookUps += 1
        let asked = LoopBound(LookUp(self, host, answer), to: context.reactor)
        do throws(ReactorError) {
            try LoopThread.start(name: "reach-lookup") { [look] in
                let found = Self.result(of: look, host)
                asked.perform { $0.ended(found) }
            }.detach()
        } catch {
            lookUps -= 1
            answer(.unavailable("\(error)"))
        }
    }

    private static func result(
        of look: (String?) throws(ReachabilityError) -> NetworkReport, _ host: String?
    ) -> Result<NetworkReport, ReachabilityError> {
        Result { () throws(ReachabilityError) in try look(host) }
    }

    private func explanation(of host: String?, _ found: Result<NetworkReport, ReachabilityError>)
        -> VarlinkReply
    {
        switch found {
        case .success(let found):
            VarlinkReply(
                Report(
                    status: found.status, path: found.path, links: found.links,
                    since: host == nil && found.status == current?.status ? current?.since : nil, host: host,
                    steps: found.steps))
        case .failure(let error): .unavailable(error.description)
        }
    }

    /// A name lookup for a client.
    private final class LookUp {
        private let statusService: StatusService
        private let host: String
        private let answer: (VarlinkReply) -> Void

        init(_ statusService: StatusService, _ host: String, _ answer: @escaping (VarlinkReply) -> Void) {
            (self.statusService, self.host, self.answer) = (statusService, host, answer)
        }

        func ended(_ found: Result<NetworkReport, ReachabilityError>) {
            statusService.lookUps -= 1
            answer(statusService.explanation(of: host, found))
        }
    }
}
