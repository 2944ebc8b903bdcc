// SPDX-License-Identifier: Apache-2.0
import Glibc
import SessionManager

/// The load of the HTTP benchmarks on the session manager.
///
///     reach-http-bench [--blocks | --on-loop | --blocks-on-loop | --unwatched] get URL N CONCURRENCY [CONNECTIONS] | download URL FILE | upload URL FILE
///
///     reach-http-bench streams URL N FOLDER AUTHORITIES | queue URL N | probed URL FILE PROBE | verdict URL PROBE
///
///     reach-http-bench held URL PROBE N
///
/// By async functions on the default executor or by completion blocks, and either on the transfers' thread;
/// `--unwatched`: nothing looks whether the line of a connection has died.
@main
struct ReachHTTPBench {
    /// How the session manager is used; by its async functions on the default executor unless said otherwise.
    enum Mode: String {
        case async = "--async"
        case onLoop = "--on-loop"
        case blocks = "--blocks"
        case blocksOnLoop = "--blocks-on-loop"
        case unwatched = "--unwatched"
    }

    static func main() async throws {
        var words = Array(CommandLine.arguments.dropFirst())
        if words.count == 5, words[0] == "streams" {
            let (count, folder, authority) = (Int(words[2]) ?? 1, words[3], words[4])
            exit(try await Pairing.streams(words[1], count, folder: folder, authority: authority) ? 0 : 1)
        }
        if words.count == 4, words[0] == "probed" {
            exit(try await Probed(probe: words[3]).download(words[1], to: words[2]) ? 0 : 1)
        }
        if words.count == 3, words[0] == "verdict" {
            exit(try await Probed(probe: words[2]).compare(words[1]) ? 0 : 1)
        }
        if words.count == 4, words[0] == "held" {
            exit(try await Probed(probe: words[2]).hold(words[1], Int(words[3]) ?? 1) ? 0 : 1)
        }
        if words.count == 3, words[0] == "queue" {
            exit(try await Pairing.queue(words[1], Int(words[2]) ?? 1) ? 0 : 1)
        }
        let mode = words.first.flatMap(Mode.init)
        if mode != nil { words.removeFirst() }
        guard words.count >= 3 else {
            print(
                "usage: [--blocks | --on-loop | --blocks-on-loop | --unwatched] get URL N CONCURRENCY [CONNECTIONS] | download URL FILE | upload URL FILE"
            )
            exit(64)
        }
        let numbers = words[0] == "get" ? words[2...].map { Int($0) ?? 1 } : []
        let concurrency = numbers.count > 1 ? numbers[1] : 1
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = numbers.count > 2 ? numbers[2] : concurrency
        configuration.maximumIdleConnections = max(configuration.maximumIdleConnections, concurrency)
        let load = Load(
            manager: URLSessionManager(
                configuration: configuration, responseSerializer: DataResponseSerializer()),
            counters: RunCounters(numbers.first ?? 1))
        if mode == .unwatched { load.manager.queue.rescue = .never }
        let isByBlocks = mode == .blocks || mode == .blocksOnLoop
        let isOnLoop = mode == .onLoop || mode == .blocksOnLoop
        if isByBlocks, isOnLoop { load.manager.completionQueue = try load.manager.transferQueue }
        if !isByBlocks, isOnLoop {
            try await withTaskExecutorPreference(load.manager.transferExecutor) {
                try await run(load, isByBlocks, words, concurrency)
            }
        } else {
            try await run(load, isByBlocks, words, concurrency)
        }
        print(load.counters.summary.line)
        exit(load.counters.summary.succeeded ? 0 : 1)
    }

    static func run(_ load: Load, _ isByBlocks: Bool, _ words: [String], _ concurrency: Int) async throws {
        let request = try SessionRequest(words[1])
        switch (words[0], isByBlocks) {
        case ("get", true): await load.getWithBlocks(request, concurrency: concurrency)
        case ("get", false): await load.get(request, concurrency: concurrency)
        case ("download", true): await load.downloadWithBlocks(request, to: words[2])
        case ("download", false): await load.download(request, to: words[2])
        case ("upload", true):
            await load.uploadWithBlocks(try SessionRequest(words[1], method: .put), from: words[2])
        case ("upload", false):
            await load.upload(try SessionRequest(words[1], method: .put, body: .file(path: words[2])))
        default: exit(64)
        }
    }
}
