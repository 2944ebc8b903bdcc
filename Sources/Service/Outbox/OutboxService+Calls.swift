// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
package import Outbox
import ReachabilityCore
package import ServiceCore
import SessionCore
import SessionManager

// Answers calls about the outbox.
extension OutboxService {
    package func answerOutbox(_ call: OutboxCall, _ answer: @escaping (VarlinkReply) -> Void) {
        if call == .directory {
            guard let context else { return answer(.unavailable("the service ends")) }
            return answer(VarlinkReply(["directory": .string(context.stateDirectory.path)]))
        }
        switch phase {
        case .opening(let waiting): phase = .opening(waiting + [(call, Answer(answer))])
        case .open(let outbox): begin(call, outbox, Answer(answer))
        case .closed(let reason): answer(.unavailable(reason))
        }
    }

    func begin(_ call: OutboxCall, _ outbox: RequestOutbox, _ answer: Answer) {
        guard let context else { return answer.call(.unavailable("the service ends")) }
        if case .addContent = call { pruneLater(context) }
        Self.run(call, outbox, uploads, LoopBound(answer, to: context.reactor), on: executor)
    }

    /// Removes abandoned uploads later.
    private func pruneLater(_ context: ServiceContext) {
        _ = context.reactor.schedule(at: Reactor.now + 61_000_000_000) { [weak self] in self?.uploads?.prune()
        }
    }

    private static func run(
        _ call: OutboxCall, _ outbox: RequestOutbox, _ uploads: ContentUploads?, _ back: LoopBound<Answer>,
        on executor: LoopTaskExecutor?
    ) {
        Task(executorPreference: executor) {
            let reply = await outcome(of: call, outbox, uploads)
            back.perform { $0.call(reply) }
        }
    }

    private static func outcome(
        of call: OutboxCall, _ outbox: RequestOutbox, _ uploads: ContentUploads?
    ) async -> VarlinkReply {
        do { return try await reply(to: call, outbox, uploads) } catch let refusal as VarlinkRefusal {
            return refusal.reply
        } catch let error as OutboxError {
            switch error.code {
            case .keyTaken: return .keyTaken(error.description)
            case .nameTaken: return .nameTaken(error.description)
            case .badRequest: return .badRequest(error.description)
            default: return .unavailable("\(error)")
            }
        } catch { return .unavailable("\(error)") }
    }

    private static func reply(
        to call: OutboxCall, _ outbox: RequestOutbox, _ uploads: ContentUploads?
    ) async throws -> VarlinkReply {
        switch call {
        case .enqueue(let draft):
            var request = try OutboxRequest(draft)
            let upload = draft.content.flatMap { uploads?.remove($0) }
            if draft.content != nil {
                guard let upload else { return .invalidParameter("content") }
                request.body = .file(path: upload.path)
            }
            let receipt = try await outbox.enqueue(request)
            // Keeps the upload's file open until here.
            withExtendedLifetime(upload) {}
            return VarlinkReply([
                "id": .string("\(receipt.id)"), "idempotencyKey": .string(receipt.idempotencyKey),
                "repeated": .bool(receipt.isRepeated), "replaced": Self.json(receipt.replaced),
            ])
        case .addContent(let name, let piece):
            guard let uploads else { return .unavailable("the service ends") }
            do throws(ContentUploads.Refusal) {
                let (name, size) = try uploads.add(piece, to: name, largest: outbox.limits.maximumBodySize)
                return VarlinkReply(["content": .string(name), "bytes": .integer(size)])
            } catch {
                switch error {
                case .unknown: return .invalidParameter("content")
                case .limit(let reason): return .limit(reason)
                case .disk(let reason): return .unavailable(reason)
                }
            }
        case .list(let choice, let limit):
            let entries = try await outbox.entries(OutboxSelection(choice), limit: limit)
            let counts = try await outbox.counts()
            return VarlinkReply([
                "entries": .array(entries.map(\.json)),
                "total": .integer(Int64(counts.waiting + counts.dead)),
            ])
        case .retry(let text):
            guard let id = try await known(text, outbox) else { return .noSuchEntry(text) }
            try await outbox.retry([id])
        case .remove(let text):
            guard let id = try await known(text, outbox) else { return .noSuchEntry(text) }
            try await outbox.remove([id])
        case .retryAll(let choice):
            return VarlinkReply(["ids": Self.json(try await outbox.retry(OutboxSelection(choice)))])
        case .removeAll(let choice):
            return VarlinkReply(["ids": Self.json(try await outbox.remove(OutboxSelection(choice)))])
        case .holdGate(let name, let reason, let time):
            let end = time.map { Date(timeIntervalSinceNow: Double($0.inNanoseconds) / 1e9) }
            try await outbox.hold(gate: name, reason: reason, until: end)
        case .releaseGate(let name):
            return VarlinkReply(["wasHeld": .bool(try await outbox.release(gate: name))])
        case .listGates:
            return VarlinkReply(["gates": .array(try await outbox.gates().map(\.json))])
        case .pause: try await outbox.pause()
        case .resume: try await outbox.resume()
        case .flush: try await outbox.flush()
        // Answered elsewhere: these need the client's ID and no outbox.
        case .wait, .monitor, .directory: return .unavailable("not here")
        }
        return VarlinkReply()
    }

    private static func json(_ ids: [OutboxID]) -> JSONValue { .array(ids.map { .string("\($0)") }) }

    private static func known(_ text: String, _ outbox: RequestOutbox) async throws -> OutboxID? {
        guard let number = Int64(text) else { return nil }
        return try await outbox.entry(OutboxID(rawValue: number))?.id
    }
}

extension OutboxLimits {
    /// Converts the configured limits.
    package init(_ settings: ServiceConfiguration.Outbox) {
        self.init()
        maximumEntries = Int(settings.entries)
        maximumBytes = settings.bytes
        maximumBodySize = settings.body
        maximumReplySize = Int(settings.reply)
        downloadFolders = settings.fetchFolders
        maximumDownloadSize = settings.fetchBytes
        policy =
            switch settings.whenFull {
            case "drop-oldest": .dropOldest
            case "drop-expired-first": .dropExpiredFirst
            default: .refuse
            }
    }
}

extension OutboxConfiguration {
    /// Converts the configured schedule.
    package init(_ settings: ServiceConfiguration.Outbox) {
        self.init()
        limits = OutboxLimits(settings)
        timeout = settings.answerTimeout
        retries.maximumAttempts = settings.maximumAttempts == 0 ? nil : Int(settings.maximumAttempts)
        for case let batch? in settings.batch.map({ BatchSetting($0) }) {
            batches[batch.lane] = BatchRule(batch)
        }
        for case let budget? in settings.budget.map({ BudgetSetting($0) }) {
            budgets[budget.lane] = LaneBudget(bytesPerDay: budget.bytes, requestsPerDay: budget.requests)
        }
        rate = settings.rate == 0 ? nil : settings.rate
        expensiveRate = settings.expensiveRate == 0 ? nil : settings.expensiveRate
    }
}

extension BatchRule {
    /// Converts a configured rule.
    init(_ setting: BatchSetting) {
        self.init(BatchForm(setting.form))
        if let count = setting.count { maximumCount = count }
        if let bytes = setting.bytes { maximumBytes = bytes }
        if let age = setting.age { maximumAge = age }
        compression = setting.compression.flatMap { ContentCompression(rawValue: $0) }
        contentType = setting.contentType
    }
}

extension BatchForm {
    /// Converts a configured form.
    init(_ form: BatchSetting.Form) {
        self =
            switch form {
            case .array: .jsonArray
            case .lines: .lines
            case .template(let prefix, let separator, let suffix):
                .template(prefix: prefix, separator: separator, suffix: suffix)
            }
    }
}
