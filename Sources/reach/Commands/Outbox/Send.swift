// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import Reachability
import ServiceCore

/// `reach send`: stores a request in the outbox.
struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Hand a request over to the outbox, which keeps it until the server has it.",
        discussion: """
            It prints the request's number when the request is on the disk. The service that runs takes it (\(ServicePaths.socket), \
            or REACH_SOCKET). Where none runs it goes to the files that the last service had, or that the configuration names, \
            but never so where REACH_SOCKET names a service; --state-directory names the folder. The request is sent as soon as there is a network, again after failures that may pass, and always with the same \
            Idempotency-Key. --wait waits for the end of it, and --now delivers here and now unless another process does.

            Exit codes: 0 taken, and with --wait or --now delivered; 2 not within --timeout, and still in the outbox; \
            1 expired, dropped, removed or replaced, or the key waits with other content, or the name in another lane; 4 the server refuses it, or it cannot be sent; 5 the server's fault; 6 no connection; \
            7 TLS fails; 64 wrong usage; 69 SQLite is missing; 74 the outbox cannot be written, or is full; 130 interrupted.

            Examples:
              reach send https://example.com/samples -d '{"t":21.5}' -H 'Content-Type: application/json' --lane samples
              reach send https://example.com/log --data-file log.txt --secret 'Authorization: Bearer file:/etc/token'
              reach send https://example.com/state -d "$STATE" --replaces state --window 01:00-05:00 --spread 2h
            """)

    @Argument(
        help: ArgumentHelp("Where to send it: an http or https URL.", valueName: "url"), transform: Value.url)
    var url: URL

    @OptionGroup var content: SendContentOptions
    @OptionGroup var times: SendTimeOptions
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
        // Before any thread starts: threads inherit the handling of signals.
        MainThreadWaiter.blockSignals()
        var request = content.request(url)
        times.apply(to: &request)
        try OutboxSubmission(
            request: request, location: try outbox.location(), waits: waits || delivers, delivers: delivers,
            timeout: timeout, json: json, pipe: content.pipe
        ).run()
    }
}
