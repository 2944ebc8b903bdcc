// SPDX-License-Identifier: Apache-2.0
// What becomes of requests that wait in an outbox.

import FoundationEssentials
import Outbox

/// On a device that is offline for weeks the newest readings count.
func makeRollingOutbox() async throws -> RequestOutbox {
    var configuration = OutboxConfiguration()
    configuration.limits.maximumEntries = 10_000
    configuration.limits.maximumBytes = 20 << 20
    configuration.limits.policy = .dropOldest
    return try await RequestOutbox(at: "/var/lib/meter/outbox", configuration: configuration)
}

/// Worth something for an hour, and not on the account of the modem.
func enqueueReading(_ outbox: RequestOutbox, _ reading: Data) async throws {
    var request = try OutboxRequest("https://api.example.com/readings", body: .data(reading))
    request.expires = Date().addingTimeInterval(3600)  // after that it is dropped instead of sent
    request.networkCondition = .notExpensive  // the lane waits for Wi-Fi or a cable
    request.lane = "readings"
    try await outbox.enqueue(request)
}

/// What the server refuses: why, and once more after it was mended.
func lookAtDeadLetters(_ outbox: RequestOutbox) async throws {
    let dead = try await outbox.entries(state: .dead)
    for entry in dead {
        let reply = try await outbox.reply(to: entry.id)
        print(entry.id, entry.url, reply?.statusCode ?? 0, entry.failure?.message ?? "")
    }
    try await outbox.retry(OutboxSelection(lane: "readings", statusCode: 404))
}

/// A token that is fetched and renewed by the program, and never stored.
struct TokenSource: SecretSource {
    let token: @Sendable () async throws -> String

    func secret(named key: String) async throws -> String { try await token() }
}

/// An outbox that knows the source `login`.
func makeOutbox(token: @escaping @Sendable () async throws -> String) async throws -> RequestOutbox {
    var configuration = OutboxConfiguration()
    configuration.secretSources["login"] = TokenSource(token: token)
    return try await RequestOutbox(at: "/var/lib/meter/outbox", configuration: configuration)
}

/// A state is sent at night; of those that wait only the newest matters.
func keepState(_ state: Data, in outbox: RequestOutbox) async throws {
    var request = try OutboxRequest("https://api.example.com/state", body: .data(state))
    request.replaces = "state"  // older ones that still wait are replaced
    request.lane = "state"
    request.window = OutboxWindow("01:00-05:00")
    request.spread = .seconds(7_200)  // a fleet does not report at one o'clock sharp
    request.gates = ["battery"]
    try await outbox.enqueue(request)
}

func followBattery(_ outbox: RequestOutbox) async throws {
    // When the battery is low, and when it is not any more.
    try await outbox.hold(gate: "battery", reason: "below 20 %")
    try await outbox.release(gate: "battery")
}

func printEnd(of receipt: OutboxReceipt, in outbox: RequestOutbox) async {
    for await change in outbox.changes(of: receipt.id) {
        switch change {
        case .progress(_, let sent, let total): print(sent, "of", total)
        case .changed(let entry): print(entry.hold ?? entry.failure?.message ?? "")
        case .left(let result): print(result.outcome, result.reply?.statusCode ?? 0)
        case .died(let entry, let reply): print(entry.failure?.message ?? "", reply?.statusCode ?? 0)
        case .present, .ready: break
        }
    }
}

/// An outbox that may fetch files into a folder.
func makeFetchingOutbox() async throws -> RequestOutbox {
    var configuration = OutboxConfiguration()
    configuration.limits.downloadFolders = ["/var/lib/meter/fetched"]
    configuration.downloadHandler = { file in  // in place and synced, before its entry leaves
        print(file.path, file.bytes)
        return true
    }
    return try await RequestOutbox(at: "/var/lib/meter/outbox", configuration: configuration)
}

/// Firmware is fetched over what does not cost, from either server; only the newest order counts.
func fetchFirmware(_ url: URL, _ mirror: URL, _ sha256: String, by outbox: RequestOutbox) async throws {
    var request = OutboxRequest.download(
        url, to: "/var/lib/meter/fetched/firmware.bin", sha256: sha256, mirrors: [mirror])
    request.networkCondition = .wifiOrWired
    request.replaces = "firmware"
    try await outbox.enqueue(request)
}

/// One sample after the other, each on the disk before the next is read.
func keep(_ samples: AsyncStream<Data>, in outbox: RequestOutbox) async throws {
    try await withTaskExecutorPreference(outbox.storageExecutor) {
        for await sample in samples {
            try await outbox.enqueue(
                OutboxRequest("https://api.example.com/samples", body: .data(sample)))
        }
    }
}

/// Samples leave together, and cost the modem 5 MB a day at most.
func makeMeteringOutbox() async throws -> RequestOutbox {
    var configuration = OutboxConfiguration()
    var samples = BatchRule(.jsonArray)
    samples.maximumCount = 500
    samples.maximumAge = .seconds(60)  // a sample waits no longer for others
    samples.compression = .gzip  // where the server understands it
    configuration.batches["samples"] = samples
    configuration.budgets["samples"] = LaneBudget(bytesPerDay: 5_000_000)  // over the modem
    return try await RequestOutbox(at: "/var/lib/meter/outbox", configuration: configuration)
}
