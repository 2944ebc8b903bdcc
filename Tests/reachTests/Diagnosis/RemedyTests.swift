// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Outbox
import SessionCore
import SessionManager
import TestSupport
import Testing

@testable import reach

/// The program's advice for people.
@Suite("The program's advice", .timeLimit(.minutes(10)))
struct RemedyTests {
    private static let libraryWords = [
        "timeoutInterval", "timeouts.", "maximumContentLength", "policy", "trust roots",
        "decompressesContent", "limits, or choose",
    ]

    @Test("FLD-037 no advice names a setting of the library", arguments: SessionRemedy.allCases)
    func words(remedy: SessionRemedy) {
        let error = SessionError(.timedOut, "what happened", remedy: remedy)
        #expect(error.advice == remedy.advice, "the library's own words stay")
        #expect(!error.spokenAdvice.isEmpty)
        for word in Self.libraryWords { #expect(!error.spokenAdvice.contains(word), "\(error.spokenAdvice)") }
        #expect(error.with(message: "more").spokenAdvice == error.spokenAdvice)
        #expect(error.with(advice: "another").spokenAdvice == "another")
    }

    @Test("FLD-091 no advice without a remedy names a setting of the library")
    func literals() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        // `advice: "…"`, on one line or two, and the cases of a table of advice.
        let pattern = /(?:advice:\s*|case [A-Z, ]+: )"((?:[^"\\]|\\.)*)"/
        var count = 0
        for module in ["SessionCore", "SessionManager", "SessionManagerExtras", "Outbox", "Storage", "reach"]
        {
            let folder = sources.appending(path: module)
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path())
            for name in names where name.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                for match in text.matches(of: pattern) {
                    let advice = String(match.1)
                    count += 1
                    if Self.unseen.contains(where: { name.hasSuffix($0) }) { continue }
                    let plain = advice.replacing(/\\\(.*\)/, with: "")
                    #expect(plain.firstMatch(of: /\b[a-z]+[A-Z]/) == nil, "\(name): \(advice)")
                    for word in Self.libraryWords + Self.callersWords {
                        #expect(!plain.contains(word), "\(name): \(advice)")
                    }
                }
            }
        }
        #expect(count > 80, "the pattern finds them")
    }

    /// Words about what a caller of the library writes.
    private static let callersWords = [
        "ask for it to", "as a stream", "configuration, which", "credential", "serializer", "closure",
        "interceptor", "number of lines", "challenge", "give it",
    ]
    /// Errors that no request of the program has.
    private static let unseen = [
        "TLSPlan.swift", "SecurityPolicy.swift", "TrustRefusal+Reasons.swift", "InterceptorFlow.swift",
        "AuthenticationStateMachine.swift", "AuthenticationInterceptor.swift",
        "PlainResponseSerializers.swift",
        "JSONSerializers.swift", "JSONWritingOptions.swift", "AnswerSerializer.swift", "TrustEvaluator.swift",
        "StreamedBody.swift", "SessionRequest+BodyFile.swift", "MultipartReader.swift",
        // `OutboxError.spoken` has other words.
        "OutboxTables+Inserting.swift",
    ]

    @Test("FLD-037 nor where pins are asked for as well")
    func pinned() async throws {
        let lab = try await GetLab()
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        let end = try await lab.get(
            "--pin", pin, "--cacert", lab.origin.pem(.otherRoot),
            lab.origin.url("/bytes/10", at: .https, host: "127.0.0.1"))
        #expect(end.code == 7 && end.errors.contains("(--cacert FILE)"), "\(end.errors)")
        for word in Self.libraryWords { #expect(!end.errors.contains(word), "\(end.errors)") }
    }

    @Test("FLD-037 nor does that of an outbox that is full")
    func full() {
        let error = OutboxError(
            .full, "there is no room for it", advice: "raise the limits, or choose what gives way")
        #expect(error.spoken.contains("outbox.entries") && error.spoken.contains("outbox.when-full"))
        for word in Self.libraryWords { #expect(!error.spoken.contains(word), "\(error.spoken)") }
    }

    @Test("FLD-037 a time limit that passed names --max-time")
    func time() async throws {
        let lab = try await GetLab()
        let end = try await lab.get("-m", "0.2", lab.origin.url("/delay/60"))
        #expect(end.code == 2 && end.errors.contains("--max-time"), "\(end.errors)")
    }

    @Test("FLD-037 FLD-038 an authority that is not trusted, and one that has expired")
    func authorities() async throws {
        let lab = try await GetLab()
        let stranger = try await lab.get(
            "--cacert", lab.origin.pem(.otherRoot), lab.origin.url("/bytes/10", at: .https, host: "127.0.0.1")
        )
        #expect(stranger.code == 7 && stranger.errors.contains("(--cacert FILE)"), "\(stranger.errors)")
        // A certificate that is trusted itself is its own authority.
        let file = lab.origin.pem(.expired)
        let expired = try await lab.get(
            "--cacert", file, lab.origin.url("/bytes/10", at: .expired, host: "127.0.0.1"))
        #expect(expired.code == 7, "\(expired.errors)")
        #expect(
            expired.errors.contains("the authority ") && expired.errors.contains("in \"\(file)\"")
                && expired.errors.contains("expired on 2021-01-01"), "\(expired.errors)")
    }

    @Test(
        "FLD-073 where memory is short, the advice is not to install what is there",
        .enabled(if: !BuiltProgram.isInstrumented, "\(BuiltProgram.instrumentsNeed)"),
        arguments: [64, 72, 76, 80, 84])
    func memory(megabytes: Int) async throws {
        let lab = try await GetLab()
        // However it ends, its advice is right.
        let end = try await lab.origin.run([
            "sh", "-c", "ulimit -c 0; exec prlimit --as=$((\(megabytes) << 20)) -- \"$@\"", "sh",
            BuiltProgram.reach, "get", "-m", "5", "-o", "-", lab.origin.url("/bytes/10"),
        ])
        #expect(!end.errors.contains("install"), "\(end.errors)")
    }
}
