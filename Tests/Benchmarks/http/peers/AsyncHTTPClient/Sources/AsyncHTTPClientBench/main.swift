// SPDX-License-Identifier: Apache-2.0

// async-http-client-bench get URL N CONCURRENCY | download URL FILE | upload URL FILE
// One event-loop thread, the system's allocator, no decompression: AsyncHTTPClient at its best for this load.
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOFileSystem
import NIOPosix
import NIOSSL

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    print("usage: get URL N CONCURRENCY | download URL FILE | upload URL FILE")
    exit(64)
}

func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

func small(_ client: HTTPClient, _ url: String, _ requests: Int, _ concurrency: Int, _ counters: RunCounters)
    async
{
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<concurrency {
            group.addTask {
                while await counters.startNext() {
                    do {
                        let response = try await client.execute(
                            HTTPClientRequest(url: url), timeout: .seconds(60))
                        let body = try await response.body.collect(upTo: 1 << 24)
                        await counters.record(response.status == .ok ? body.readableBytes : nil)
                    } catch {
                        await counters.record(nil)
                    }
                }
            }
        }
    }
}

func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
    var left = bytes[...]
    while !left.isEmpty {
        let count = write(file, UnsafeRawBufferPointer(rebasing: left).baseAddress, left.count)
        if count <= 0 { return false }
        left = left.dropFirst(count)
    }
    return true
}

func download(_ client: HTTPClient, _ url: String, _ path: String) async throws -> Int? {
    let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(600))
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0, response.status == .ok else { return nil }
    defer { close(file) }
    var total = 0
    for try await chunk in response.body {
        guard chunk.withUnsafeReadableBytes({ writeAll($0, to: file) }) else { return nil }
        total += chunk.readableBytes
    }
    return total
}

func upload(_ client: HTTPClient, _ url: String, _ path: String) async throws -> Int? {
    let file = try await FileSystem.shared.openFile(forReadingAt: FilePath(path))
    do {
        let size = try await file.info().size
        var request = HTTPClientRequest(url: url)
        request.method = .PUT
        request.body = .stream(file.readChunks(chunkLength: .kibibytes(256)), length: .known(size))
        let response = try await client.execute(request, timeout: .seconds(600))
        _ = try await response.body.collect(upTo: 1 << 20)
        try await file.close()
        return response.status.code / 100 == 2 ? Int(size) : nil
    } catch {
        try? await file.close()
        throw error
    }
}

let concurrency = arguments.count > 4 ? Int(arguments[4]) ?? 1 : 1
var configuration = HTTPClient.Configuration()
if let file = environment("BENCH_CA_FILE") {
    configuration.tlsConfiguration = .makeClientConfiguration()
    configuration.tlsConfiguration?.trustRoots = .file(file)
}
configuration.httpVersion = environment("BENCH_HTTP") == "1" ? .http1Only : .automatic
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = concurrency
configuration.decompression = .disabled
let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let client = HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration)
let counters = RunCounters(arguments[1] == "get" ? Int(arguments[3]) ?? 0 : 1)
do {
    switch arguments[1] {
    case "get": await small(client, arguments[2], Int(arguments[3]) ?? 0, concurrency, counters)
    case "download": await counters.record(try await download(client, arguments[2], arguments[3]))
    case "upload": await counters.record(try await upload(client, arguments[2], arguments[3]))
    default: exit(64)
    }
} catch {
    await counters.record(nil)
    print("error: \(error)")
}
try await client.shutdown()
print("ok=\(await counters.good) failed=\(await counters.bad) bytes=\(await counters.bytes)")
exit(await counters.bad == 0 ? 0 : 1)
