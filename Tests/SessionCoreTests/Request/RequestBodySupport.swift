// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Synchronization
import TestSupport
import Testing

extension ScratchFolder {
    /// The path of a new file with this content.
    func file(_ name: String, _ content: some Sequence<UInt8>) throws -> String {
        try Data(content).write(to: URL(filePath: self(name)))
        return self(name)
    }
}

/// A source whose bytes come when the test says so.
final class LiveSource: BodySource {
    private struct State {
        var bytes: [UInt8] = []
        var isComplete = false
        var isUsed = false
        var callback: (@Sendable () -> Void)?
    }

    let length: Int64?
    let isRewindable = false
    private let state = Mutex(State())

    init(_ bytes: [UInt8] = [], isComplete: Bool = false, length: Int64? = nil) {
        self.length = length
        state.withLock {
            $0.bytes = bytes
            $0.isComplete = isComplete
        }
    }

    func makeReader() throws(SessionError) -> any BodyReader {
        let isUsed = state.withLock { state in
            defer { state.isUsed = true }
            return state.isUsed
        }
        guard !isUsed else { throw SessionError(.requestBodyStreamExhausted, "used already") }
        return Reader(source: self)
    }

    func give(_ bytes: [UInt8], isComplete: Bool = false) {
        let callback = state.withLock { state in
            state.bytes += bytes
            state.isComplete = isComplete
            defer { state.callback = nil }
            return state.callback
        }
        callback?()
    }

    private final class Reader: BodyReader {
        let source: LiveSource

        init(source: LiveSource) { self.source = source }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            source.state.withLock { state in
                guard !state.bytes.isEmpty else { return state.isComplete ? .end : .notYet }
                let count = min(buffer.count, state.bytes.count)
                buffer.copyBytes(from: state.bytes[..<count])
                state.bytes.removeFirst(count)
                return .bytes(count)
            }
        }

        func whenReadable(_ callback: @escaping @Sendable () -> Void) {
            source.state.withLock { $0.callback = callback }
        }
    }
}

/// A clock that passes only when the test says so.
final class ManualScheduler: BodyScheduler {
    private let state = Mutex<[(delay: Duration, action: @Sendable () -> Void)]>([])

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.append((delay, action)) }
    }

    /// What has been scheduled and not been called.
    var pending: [Duration] { state.withLock { $0.map(\.delay) } }

    /// Calls everything that has been scheduled.
    func pass() {
        let due = state.withLock { state in
            defer { state.removeAll() }
            return state
        }
        for item in due { item.action() }
    }
}

/// Counts calls.
final class CallCounter: Sendable {
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    func call() { calls.add(1, ordering: .sequentiallyConsistent) }
}

/// Reads a body to its end with a buffer of this size.
func readAll(_ source: any BodySource, buffer size: Int = 4096) throws -> [UInt8] {
    try readAll(try source.makeReader(), buffer: size)
}

/// Reads what is left of a body with a buffer of this size.
func readAll(_ reader: any BodyReader, buffer size: Int = 4096) throws -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    defer { buffer.deallocate() }
    var bytes: [UInt8] = []
    while true {
        switch try reader.read(into: buffer) {
        case .bytes(let count):
            #expect(count > 0 && count <= size)
            bytes += buffer[..<count]
        case .end: return bytes
        case .notYet: throw SessionError(.timedOut, "the body has nothing yet")
        }
    }
}
