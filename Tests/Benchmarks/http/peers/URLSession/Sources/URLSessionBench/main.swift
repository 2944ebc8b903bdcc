// SPDX-License-Identifier: Apache-2.0

// url-session-bench get URL N CONCURRENCY | download URL FILE | upload URL FILE
// It trusts the system's authorities alone: FoundationNetworking has no way to name others.
import Foundation
import FoundationNetworking

let arguments = CommandLine.arguments
guard arguments.count >= 4, let url = URL(string: arguments[2]) else {
    print("usage: get URL N CONCURRENCY | download URL FILE | upload URL FILE")
    exit(64)
}

@Sendable func succeeded(_ response: URLResponse?) -> Bool {
    (response as? HTTPURLResponse).map { $0.statusCode / 100 == 2 } ?? false
}

func small(_ session: URLSession, _ requests: Int, _ concurrency: Int, _ counters: RunCounters) async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<concurrency {
            group.addTask {
                while await counters.startNext() {
                    let answer = try? await session.data(for: URLRequest(url: url))
                    await counters.record(answer.flatMap { succeeded($0.1) ? $0.0.count : nil })
                }
            }
        }
    }
}

/// Moves the file to where it belongs inside the callback, as the documentation asks for.
func download(_ session: URLSession, _ path: String) async -> Int? {
    await withCheckedContinuation { continuation in
        session.downloadTask(with: url) { location, response, _ in
            guard let location, succeeded(response) else { return continuation.resume(returning: nil) }
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.moveItem(at: location, to: URL(fileURLWithPath: path))
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            continuation.resume(returning: size)
        }.resume()
    }
}

func upload(_ session: URLSession, _ path: String) async throws -> Int? {
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    let (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
    return succeeded(response) ? 0 : nil
}

let concurrency = arguments.count > 4 ? Int(arguments[4]) ?? 1 : 1
let configuration = URLSessionConfiguration.ephemeral
configuration.httpMaximumConnectionsPerHost = concurrency
configuration.urlCache = nil
configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
configuration.timeoutIntervalForRequest = 600
let session = URLSession(configuration: configuration)
let requests = arguments[1] == "get" ? Int(arguments[3]) ?? 0 : 1
let counters = RunCounters(requests)
switch arguments[1] {
case "get": await small(session, requests, concurrency, counters)
case "download": await counters.record(await download(session, arguments[3]))
case "upload":
    do { await counters.record(try await upload(session, arguments[3])) } catch {
        print("error: \(error)")
        await counters.record(nil)
    }
default: exit(64)
}
print("ok=\(await counters.good) failed=\(await counters.bad) bytes=\(await counters.bytes)")
exit(await counters.bad == 0 ? 0 : 1)
