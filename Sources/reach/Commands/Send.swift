// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import Reachability
import ServiceCore
import Synchronization

/// `reach send`: hands a request over to the outbox.
struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hand a request over to the outbox, which keeps it until the server has it.",
        discussion: """
            It prints the request's number when the request is on the disk. The service that runs takes it (\(ServicePaths.socket), \
            or REACH_SOCKET). Where none runs it goes to the files that the last service had, or that the configuration names, \
            but never so where REACH_SOCKET names a service; --state-directory names the folder. The request is sent as soon as there is a network, again after failures that may pass, and always with the same \
            Idempotency-Key. --wait waits for the end of it, and --now delivers here and now unless somebody else does.

            Exit codes: 0 taken, and with --wait or --now delivered; 2 not within --timeout, and still in the outbox; \
            1 expired, dropped or removed, or the key waits with other content; 4 the server refuses it, or it cannot be sent; 5 the server's fault; 6 no connection; \
            7 TLS fails; 64 wrong usage; 69 SQLite is missing; 74 the outbox cannot be written, or is full; 130 interrupted.

            Examples:
              reach send https://example.com/samples -d '{"t":21.5}' -H 'Content-Type: application/json' --lane samples
              reach send https://example.com/log --data-file log.txt --secret 'Authorization: Bearer file:/etc/token'
            """)

    @Argument(
        help: ArgumentHelp("Where to send it: an http or https URL.", valueName: "url"), transform: Value.url)
    var url: URL

    @OptionGroup var content: SendContentOptions
    @OptionGroup var outbox: OutboxOptions

    @Flag(name: .customLong("wait"), help: "Wait until it was delivered, or will not be.")
    var waits = false

    @Flag(
        name: .customLong("now"),
        help: "Deliver here and now, with all that waits, and wait for the end of it.")
    var delivers = false

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("Wait so many seconds at most.", valueName: "seconds"), transform: Value.seconds)
    var timeout: Duration?

    @Flag(name: .customLong("json"), help: "Print the result as JSON, one object on one line.")
    var json = false

    func validate() throws {
        if timeout != nil, !waits, !delivers { throw ValidationError("--timeout needs --wait or --now.") }
    }

    func run() throws {
        let request = content.request(url)
        let directory: String
        switch try outbox.place() {
        case .service(let service): return try hand(request, to: service)
        case .files(let place): directory = place
        }
        let (delivers, waits) = (delivers, waits || delivers)
        let json = json
        if delivers, let refusal = OutboxOptions.deliveryRefusal(directory) {
            complain(refusal)
            throw ExitCode.usage
        }
        let settlement = try told { took in
            try OutboxOptions.run(in: directory, limit: timeout, makes: true) { outbox -> OutboxSettlement? in
                let receipt = try await outbox.enqueue(request)
                took(receipt)
                guard waits else {
                    if json { Self.write(receipt, OutboxSettlement?.none) }
                    return nil
                }
                if delivers { try await Self.deliver(outbox) }
                let settlement = try await outbox.settlement(of: receipt.id)
                if json { Self.write(receipt, settlement) }
                return settlement
            }
        }
        switch settlement {
        case nil: return
        case .left(let result)?:
            guard result.outcome == .delivered else {
                if !json { complain("it was \(result.outcome.rawValue), and not delivered") }
                throw ExitCode.failure
            }
        case .dead(let entry)?:
            if !json {
                complain(
                    "\(entry.failure?.message ?? "it cannot be delivered"); 'reach queue show \(entry.id)' has more"
                )
            }
            throw ExitCode(entry.failure?.kind)
        case .unknown?: throw ExitCode.failure
        }
    }

    /// The same by a service, which delivers anyway.
    private func hand(_ request: OutboxRequest, to service: ServiceOutbox) throws {
        let (waits, json) = (waits || delivers, json)
        let settlement = try told { took in
            try OutboxOptions.attempt(limit: timeout) { () -> ServiceSettlement? in
                let receipt = try service.enqueue(request)
                took(receipt)
                let settlement = waits ? try await service.settlement(of: receipt.id) : nil
                if json { Self.write(receipt, settlement) }
                return settlement
            }
        }
        guard let settlement, settlement.outcome != "delivered" else { return }
        if !json { complain(settlement.reason ?? "it was \(settlement.outcome), and not delivered") }
        throw settlement.outcome == "dead" ? ExitCode(settlement.failure) : .failure
    }

    /// Says the number of a request that the outbox has taken, and what has become of it where the time is over before its end.
    ///
    /// - Parameter work: calls what it is given when the outbox has taken the request.
    private func told<Value>(
        _ work: (_ took: @escaping @Sendable (OutboxReceipt) -> Void) throws -> Value
    ) throws -> Value {
        let json = json
        let taken = Taken()
        do {
            return try work { receipt in
                taken.receipt.withLock { $0 = receipt }
                if !json { StandardStream.output.write("\(receipt.id)\n").note() }
            }
        } catch let code as ExitCode where code == .timedOut {
            let receipt = taken.receipt.withLock { $0 }
            if json, let receipt { Self.write(receipt, OutboxSettlement?.none) }
            if !json {
                complain(
                    receipt.map {
                        "not delivered in time, and still in the outbox; 'reach queue show \($0.id)' has more"
                    }
                        ?? "not taken in time: the outbox did not answer; try again, or allow more time")
            }
            throw code
        }
    }

    /// What the outbox has taken.
    private final class Taken: Sendable {
        let receipt = Mutex<OutboxReceipt?>(nil)
    }

    private static func write(_ receipt: OutboxReceipt, _ settlement: ServiceSettlement?) {
        var line = TextLine()
        OutboxJSON.write(
            receipt, outcome: settlement?.outcome ?? "queued", settlement?.statusCode, settlement?.reason,
            to: &line)
        StandardStream.output.write(line.bytes).note()
    }

    /// Delivers, unless another process does already.
    private static func deliver(_ outbox: RequestOutbox) async throws {
        let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer())
        ReachabilityManager.shared.startMonitoring()
        do {
            try await outbox.startDelivery(with: manager)
        } catch let error as OutboxError where error.code == .deliveredElsewhere {
            return
        }
    }

    private static func write(_ receipt: OutboxReceipt, _ settlement: OutboxSettlement?) {
        var line = TextLine()
        OutboxJSON.write(receipt, settlement, to: &line)
        StandardStream.output.write(line.bytes).note()
    }
}
