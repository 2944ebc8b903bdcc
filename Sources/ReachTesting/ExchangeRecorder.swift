// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
public import SessionCore
public import SessionManager
import Synchronization

/// Records what a real server answers, into a file that ``RecordedExchanges`` replays.
///
///     let recorder = try ExchangeRecorder(to: "Tests/Recordings/login.jsonl")
///     let api = try HTTPSessionManager(baseURL: base, answering: recorder.answer)
///
/// One line of JSON for each exchange: method, URL, bodies as text where they are, status, header fields.
/// Credentials are not recorded: no header fields of a request, of answers none of
/// ``SessionCore/SensitiveFields``, and of query, forms and JSON `-secret-` for values whose names are those
/// of secrets (`token`, `password`, …). Look at a recording before it is stored with the sources all the
/// same.
public final class ExchangeRecorder: Sendable {
    /// Where the recording is.
    public let path: String
    private let manager: URLSessionManager
    private let secrets: RecordingSecrets
    private let output: Mutex<Int32>

    /// A recorder; a file that is there is replaced.
    ///
    /// - Parameters:
    ///   - path: the file of the recording.
    ///   - manager: speaks to the real server; its interceptor, delegate and cache are not to change
    ///     anything.
    ///   - others: names of header fields, parameters and JSON members that are secrets besides the usual
    ///     ones.
    /// - Throws: ``SessionCore/SessionError/Code/cannotCreateFile``.
    public init(
        to path: String, through manager: URLSessionManager = URLSessionManager(),
        secrets others: [String] = []
    ) throws(SessionError) {
        self.path = path
        self.manager = manager
        secrets = RecordingSecrets(others)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw SessionError(
                .cannotCreateFile, "\(path) cannot be written: \(String(cString: strerror(errno)))",
                advice: "make its folder, or record elsewhere")
        }
        output = Mutex(file)
    }

    deinit { close(output.withLock { $0 }) }

    /// The real server's answer to a request, which is recorded.
    ///
    /// - Throws: what hindered the transfer, which is recorded too, or the writing.
    @Sendable public func answer(_ request: SentRequest) async throws -> Answer {
        var exchange = secrets.exchange(of: request)
        let (data, response): (Data, SessionResponse)
        do {
            (data, response) = try await manager.data(for: Self.request(request), options: Self.options)
        } catch {
            exchange.failure = error.code.rawValue
            try write(exchange)
            throw error
        }
        exchange.status = response.statusCode ?? 0
        exchange.headers = secrets.headers(response.headerFields)
        if !data.isEmpty {
            let type = response.headerFields[.contentType]
            exchange.content = RecordedExchange.Content(secrets.redacted(data, type))
        }
        try write(exchange)
        // The program gets the secrets that its recording does not.
        var answer = Answer(status: exchange.status)
        for field in response.headerFields where !Self.isFraming(field.name) {
            answer = answer.header(field.name.rawName, field.value)
        }
        answer.steps = data.isEmpty ? [] : [.content(data)]
        return answer
    }

    /// Fields that are the transfer's own, and written anew.
    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        ["connection", "keep-alive", "transfer-encoding", "content-length"].contains(name.canonicalName)
    }

    private static func request(_ sent: SentRequest) -> SessionRequest {
        var fields = sent.headerFields
        for name in ["host", "content-length", "transfer-encoding", "accept-encoding"] {
            if let name = HTTPField.Name(name) { fields[name] = nil }
        }
        var request = SessionRequest(
            url: sent.url, method: sent.method, headerFields: fields,
            body: sent.body.isEmpty ? nil : .data(sent.body))
        // Recordings are to be readable.
        request.options.decompressesContent = false
        request.options.cachePolicy = .reloadIgnoringLocalCacheData
        return request
    }

    /// Redirects are answers here, which the program's own manager follows.
    private static var options: TaskOptions {
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        return options
    }

    private func write(_ exchange: RecordedExchange) throws(SessionError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(exchange) else { return }
        line.append(0x0A)
        let isWritten = output.withLock { file in
            line.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
        }
        if !isWritten {
            throw SessionError(
                .cannotWriteToFile, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
