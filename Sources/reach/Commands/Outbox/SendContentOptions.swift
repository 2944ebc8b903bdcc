// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import Outbox

/// The content and fields of the request.
struct SendContentOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method. (default: POST)", valueName: "method"), transform: Value.method)
    var method: HTTPRequest.Method?

    @Option(
        name: [.customShort("d"), .customLong("data")], parsing: .unconditional,
        help: ArgumentHelp(
            "Send this text; @FILE sends the content of a file, @- what comes on standard input.",
            valueName: "text"))
    var data: String?

    @Option(
        name: .customLong("data-raw"), parsing: .unconditional,
        help: ArgumentHelp("Send this text as it is, with an @ in front too.", valueName: "text"))
    var rawData: String?

    @Option(
        name: .customLong("data-file"),
        help: ArgumentHelp(
            "Send the content of this file, - for standard input; it is copied.", valueName: "file"))
    var file: String?

    @OptionGroup var stored: StoredRequestOptions

    @Option(
        name: .customLong("secret"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this header field with a value that is looked up when it is sent and never stored: the last word is env:VARIABLE or file:PATH.",
            valueName: "name: value"),
        transform: Value.secret)
    var secrets: [SecretField] = []

    @Option(
        name: .customLong("lane"),
        help: ArgumentHelp("Send it behind what waits in this lane.", valueName: "name"))
    var lane = "default"

    @Option(
        name: .customLong("answer-timeout"),
        help: ArgumentHelp(
            "How long the server may take for its answer; twice as long after each try that was sent whole and got none; 0 for ever. (default: 60, or as the service is configured)",
            valueName: "seconds"), transform: Value.seconds)
    var answerTimeout: Duration?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The Idempotency-Key; one that waits already is not taken twice. (default: random)",
            valueName: "text"))
    var key: String?

    func validate() throws {
        if method == .head, data ?? rawData ?? file != nil {
            throw ValidationError("a HEAD request sends no data; leave out the data or -X HEAD.")
        }
        guard [data, rawData, file].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("-d, --data-raw and --data-file exclude each other.")
        }
    }

    /// The file to send, if any; as for curl(1), and for 'reach get'.
    private var path: String? {
        file ?? data.flatMap { $0.hasPrefix("@") ? String($0.dropFirst()) : nil }
    }

    /// The file to send if it may have to be waited for, such as a pipe or a terminal.
    var pipe: String? {
        guard let path else { return nil }
        var status = stat()
        let isFound = (path == "-" ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0
        guard isFound, status.st_mode & S_IFMT != S_IFREG else { return nil }
        return path == "-" ? "standard input" : path
    }

    private var body: OutboxRequest.Body? {
        if let path { return .file(path: path == "-" ? "/dev/stdin" : path) }
        return (data ?? rawData).map { .data(Data($0.utf8)) }
    }

    func request(_ url: URL) -> OutboxRequest {
        var request = OutboxRequest(url: url, method: method ?? .post)
        stored.apply(to: &request)
        request.secretFields = secrets
        request.body = body
        request.lane = lane
        request.timeout = answerTimeout
        request.idempotencyKey = key
        return request
    }
}

extension Value {
    /// A condition by its name.
    static func networkCondition(_ text: String) throws -> NetworkCondition {
        // As words with hyphens too: wifi-or-wired.
        let words = text.split(separator: "-", omittingEmptySubsequences: false)
        let name = words.dropFirst().reduce(into: String(words.first ?? "")) {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
        guard let condition = NetworkCondition(rawValue: name) else {
            throw ValidationError(
                "give any, wifiOrWired, wiredOnly, notExpensive, notConstrained or internet.")
        }
        return condition
    }

    /// `Name: PREFIX env:VARIABLE` or `Name: PREFIX file:PATH`.
    static func secret(_ text: String) throws -> SecretField {
        let advice = "give 'Name: env:VARIABLE' or 'Name: Bearer file:PATH'."
        guard let colon = text.firstIndex(of: ":") else { throw ValidationError(advice) }
        let value = text[text.index(after: colon)...].drop { $0 == " " }
        let start = value.lastIndex(of: " ").map { value.index(after: $0) } ?? value.startIndex
        guard
            let field = SecretField(
                name: String(text[..<colon]), prefix: String(value[..<start]),
                reference: String(value[start...])),
            ["env", "file"].contains(field.source), !field.key.isEmpty, HTTPField.Name(field.name) != nil
        else { throw ValidationError(advice) }
        // Another process, in another folder, reads the file.
        guard field.source == "file", !field.key.hasPrefix("/") else { return field }
        let path = URL(filePath: field.key, relativeTo: .currentDirectory()).path(percentEncoded: false)
        return SecretField(name: field.name, prefix: field.prefix, source: field.source, key: path)
    }
}
