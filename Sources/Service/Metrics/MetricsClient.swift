// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ServiceCore

/// One connection.
final class MetricsClient {
    private let descriptor: OwnedDescriptor
    private let reactor: Reactor
    private let answer: (MetricsRequest) -> [UInt8]
    private let ended: () -> Void
    private var request: [UInt8] = []
    private var response: ArraySlice<UInt8> = []
    private var isAnswering = false
    private var timer: TimerID?

    /// The time limit for request and response together.
    private static let patience: Int64 = 10_000_000_000

    init(
        _ descriptor: consuming OwnedDescriptor, reactor: Reactor,
        answer: @escaping (MetricsRequest) -> [UInt8], ended: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.reactor = reactor
        self.answer = answer
        self.ended = ended
    }

    func begin() {
        timer = reactor.schedule(at: Reactor.now + Self.patience) { [weak self] in self?.end() }
        let watch = try? reactor.watch(descriptor.number, for: .readable, retrying: true) { [weak self] _ in
            self?.isReady()
        }
        if watch == nil { end() }
    }

    private func isReady() { if isAnswering { write() } else { read() } }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: MetricsRequest.limit)
        let count = Glibc.read(descriptor.number, &buffer, buffer.count - request.count)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { end() }
            return
        }
        request += buffer.prefix(count)
        let parsed = MetricsRequest(request)
        guard parsed != .incomplete else { return }
        isAnswering = true
        response = answer(parsed)[...]
        write()
    }

    private func write() {
        while !response.isEmpty {
            let count = response.withUnsafeBytes {
                send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                response = response.dropFirst(count)
            } else if errno == EAGAIN {
                return reactor.change(descriptor.number, to: .writable)
            } else if errno != EINTR {
                return end()
            }
        }
        end()
    }

    private func end() {
        close()
        ended()
    }

    func close() {
        reactor.unwatch(descriptor.number)
        if let timer { reactor.cancel(timer) }
        timer = nil
        // Unread bytes would make the kernel reset the connection, and the client would lose the response.
        shutdown(descriptor.number, Int32(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<4 { if Glibc.read(descriptor.number, &rest, rest.count) <= 0 { break } }
    }
}
