// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import Reachability
import ServiceCore

/// `reach fetch`: hands a download over to the outbox.
struct Fetch: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Hand a download over to the service, which puts the file in its place when it is whole.",
        discussion: """
            It prints the request's number when the request is on the disk. The service that runs fetches the file, or the next one \
            that does; where none runs, the request goes to its files, as 'reach send' says. What has come survives restarts and \
            reboots: the rest is asked for, at the next URL where one fails. The file is compared with the checksum, synced, and \
            renamed, so that FILE is the old one or the new one, whole. Then the programs in the hooks directory are run with the \
            event 'fetched' (reach-hooks(7)).

            FILE is an absolute path below a folder of outbox.fetch.folders, which is 'fetched' in the state directory unless set. \
            'reach queue' shows the request, why it waits, and why it was given up.

            Exit codes: 0 taken, and with --wait fetched; 2 not within --timeout, and still in the outbox; \
            1 expired, dropped, removed or replaced, or the key waits with another file; 4 each URL has refused it, or sends another \
            content; 5 the server's fault; 6 no connection; 7 TLS fails; 64 wrong usage, or no such place for the file; \
            69 SQLite is missing; 74 the outbox cannot be written, or is full; 130 interrupted.

            Examples:
              reach fetch https://example.com/fw.bin --to /var/lib/reach/fetched/fw.bin --sha256 "$SUM" --network wifi-or-wired
              reach fetch https://a.example/map https://b.example/map --to /data/map --replaces map --wait
            """)

    @Argument(
        help: ArgumentHelp(
            "What to fetch, an http or https URL, and further URLs of the same content.", valueName: "url"),
        transform: Value.url)
    var urls: [URL]

    @OptionGroup var file: FetchFileOptions
    @OptionGroup var times: SendTimeOptions
    @OptionGroup var outbox: OutboxOptions

    @Flag(name: .customLong("wait"), help: "Wait until it was fetched, or will not be.")
    var waits = false

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("Wait so many seconds at most.", valueName: "seconds"), transform: Value.seconds)
    var timeout: Duration?

    @Flag(name: .customLong("json"), help: "Print the result as JSON, one object on one line.")
    var json = false

    func validate() throws {
        if timeout != nil, !waits { throw ValidationError("--timeout needs --wait.") }
        if urls.isEmpty { throw ValidationError("give the URL of the file.") }
        if !file.path.hasPrefix("/") {
            throw ValidationError("--to needs an absolute path: another process writes the file.")
        }
    }

    func run() throws {
        // Before any thread starts: threads inherit the handling of signals.
        MainThreadWaiter.blockSignals()
        var request = file.request(urls)
        times.apply(to: &request)
        try OutboxSubmission(
            request: request, location: try outbox.location(), waits: waits, delivers: false,
            timeout: timeout,
            json: json, end: "fetched"
        ).run()
    }
}

/// The file of `reach fetch`, and the fields of its request.
struct FetchFileOptions: ParsableArguments {
    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("Where the file is put, as an absolute path.", valueName: "file"))
    var path: String

    @Option(
        name: .customLong("sha256"),
        help: ArgumentHelp(
            "The SHA-256 of the content, as sha256sum prints it; one that differs is thrown away.",
            valueName: "hex"))
    var sha256: String?

    @Option(
        name: .customLong("mode"),
        help: ArgumentHelp("The mode of the file, in octal. (default: 0644)", valueName: "mode"),
        transform: FetchFileOptions.mode)
    var mode: UInt32?

    @OptionGroup var stored: StoredRequestOptions

    @Option(
        name: .customLong("secret"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this header field to the first URL's server alone, with a value that is looked up when it is sent and never stored: the last word is env:VARIABLE or file:PATH.",
            valueName: "name: value"),
        transform: Value.secret)
    var secrets: [SecretField] = []

    @Option(
        name: .customLong("lane"),
        help: ArgumentHelp("Fetch it behind what waits in this lane.", valueName: "name"))
    var lane = "downloads"

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A name for the request; one with this name that waits already is not taken twice. (default: random)",
            valueName: "text"))
    var key: String?

    func request(_ urls: [URL]) -> OutboxRequest {
        var request = OutboxRequest.download(
            urls[0], to: path, sha256: sha256, mirrors: Array(urls.dropFirst()))
        if let mode { request.download?.mode = mode }
        request.download?.owner = .current
        stored.apply(to: &request)
        request.secretFields = secrets
        request.lane = lane
        request.idempotencyKey = key
        return request
    }

    private static func mode(_ text: String) throws -> UInt32 {
        guard let mode = UInt32(text, radix: 8), mode & ~0o777 == 0 else {
            throw ValidationError("give a mode such as 0644, without set-user-ID and its like.")
        }
        return mode
    }
}
