// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SessionManager
import Synchronization

/// The transfers of a run on one manager.
struct Load: Sendable {
    let manager: URLSessionManager
    let counters: RunCounters

    // MARK: By async functions

    func get(_ request: SessionRequest, concurrency: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<concurrency {
                group.addTask {
                    while counters.startNext() { await counters.record(size(of: request)) }
                }
            }
        }
    }

    private func size(of request: SessionRequest) async -> Int? {
        guard let (data, response) = try? await manager.data(for: request),
            response.statusCode.map({ $0 / 100 == 2 }) == true
        else { return nil }
        return data.count
    }

    func upload(_ request: SessionRequest) async {
        counters.record(await size(of: request))
    }

    func download(_ request: SessionRequest, to path: String) async {
        let destination = DownloadDestination(path, replacesExisting: true)
        counters.record((try? await manager.download(request, to: destination)) == nil ? nil : 0)
    }

    // MARK: By blocks

    func getWithBlocks(_ request: SessionRequest, concurrency: Int) async {
        await untilDone { done in
            for _ in 0..<concurrency { next(request, done) }
        }
    }

    /// Starts one transfer, whose block starts the next.
    private func next(_ request: SessionRequest, _ done: @escaping @Sendable () -> Void) {
        guard counters.startNext() else { return }
        start(done) {
            try manager.dataTask(with: request) { _, object, error in
                let data = error == nil ? object as? Data : nil
                if counters.record(data?.count) { done() } else { next(request, done) }
            }
        }
    }

    func uploadWithBlocks(_ request: SessionRequest, from path: String) async {
        await untilDone { done in
            start(done) {
                try manager.uploadTask(with: request, fromFile: path) { _, object, error in
                    counters.record(error == nil ? 0 : nil)
                    done()
                }
            }
        }
    }

    func downloadWithBlocks(_ request: SessionRequest, to path: String) async {
        await untilDone { done in
            start(done) {
                try manager.downloadTask(
                    with: request, destination: .file(DownloadDestination(path, replacesExisting: true)),
                    completion: { _, _, error in
                        counters.record(error == nil ? 0 : nil)
                        done()
                    })
            }
        }
    }

    private func start(_ done: @Sendable () -> Void, _ make: () throws -> SessionTask) {
        if let task = try? make() { task.resume() } else if counters.record(nil) { done() }
    }

    private func untilDone(_ body: (@escaping @Sendable () -> Void) -> Void) async {
        // Not a checked one, whose check is no part of what is measured.
        await withUnsafeContinuation { continuation in
            body { continuation.resume() }
        }
    }
}
