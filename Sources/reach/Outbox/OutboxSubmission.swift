// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Outbox
import Reachability
import Service
import ServiceCore
import Synchronization

/// Hands a request over to the outbox, prints its number, and may wait for the end of it.
struct OutboxSubmission: Sendable {
    let request: OutboxRequest
    let location: OutboxLocation
    var waits = false
    /// Whether this process delivers.
    var delivers = false
    var timeout: Duration?
    var json = false
    /// The file whose content may have to be waited for.
    var pipe: String?
    /// What has happened with success, for people.
    var end = "delivered"

    /// - Throws: the exit code, after the reason is printed.
    func run() throws {
        // A request whose number cannot be printed would be sent once more by a script that repeats this.
        guard StandardStream.output.isWritable else {
            try StandardStream.Outcome.failed(EBADF).check()
            return
        }
        if delivers, case .files(let directory) = location,
            let refusal = OutboxOptions.deliveryRefusal(directory)
        {
            complain(refusal)
            throw ExitCode.usage
        }
        if request.download != nil, case .files(let directory) = location {
            FetchFolders.prepare(OutboxLocation.configuration.outbox.fetchFolders, in: directory)
        }
        let settlement = try reportingReceipt { [self] accepted in
            try OutboxOptions.run(at: location, limit: timeout, makes: true) { client -> EntrySettlement? in
                let message = WaitingMessage(
                    "waiting for the end of \(pipe ?? "")",
                    isSeen: pipe != nil && isatty(STDERR_FILENO) == 1)
                let receipt = try await client.enqueue(request)
                message.end()
                accepted(receipt)
                if delivers { try await client.deliver() }
                let settlement = waits ? try await client.settlement(of: receipt.id) : nil
                if json { Self.write(receipt, settlement) }
                return settlement
            }
        }
        guard let settlement, settlement.outcome != "delivered" else { return }
        if !json, let message = settlement.message { complain(message) }
        throw settlement.outcome == "dead" ? ExitCode(settlement.failure) : .failure
    }

    /// Prints the number of the accepted request, and its state if the time limit ends before its delivery;
    /// `work` calls its argument when the outbox has accepted the request.
    private func reportingReceipt<Value>(
        _ work: (_ accepted: @escaping @Sendable (OutboxReceipt) -> Void) throws -> Value
    ) throws -> Value {
        let json = json
        let accepted = Mutex<OutboxReceipt?>(nil)
        do {
            return try work { receipt in
                accepted.withLock { $0 = receipt }
                if !json { StandardStream.output.write("\(receipt.id)\n").record() }
            }
        } catch let code as ExitCode where code == .timedOut {
            let receipt = accepted.withLock { $0 }
            if json, let receipt { Self.write(receipt, nil) }
            if !json {
                complain(
                    receipt.map {
                        "not \(end) in time, and still in the outbox; 'reach queue show \($0.id)' has more"
                    }
                        ?? "not taken in time: the outbox did not answer; try again, or allow more time")
            }
            throw code
        }
    }

    private static func write(_ receipt: OutboxReceipt, _ settlement: EntrySettlement?) {
        var line = TextLine()
        OutboxJSON.write(receipt, settlement, to: &line)
        StandardStream.output.write(line.bytes).record()
    }
}
