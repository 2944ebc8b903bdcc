// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ServiceCore

/// Splits a hook's output into lines for the log; above a limit bytes are only read and counted.
final class HookOutput {
    private let pipe: OwnedDescriptor
    private let line: (String) -> Void
    private let limit: Int
    private var rest: [UInt8] = []
    private var used = 0
    private var leftOut = 0

    // The longest line of the log.
    private static let lineLimit = 1000

    init(_ pipe: consuming OwnedDescriptor, limit: Int, line: @escaping (String) -> Void) throws(ReactorError)
    {
        guard fcntl(pipe.number, F_SETFL, O_NONBLOCK) == 0 else { throw ReactorError("fcntl", errno: errno) }
        self.pipe = pipe
        self.limit = limit
        self.line = line
    }

    func begin(_ reactor: Reactor) {
        _ = try? reactor.watch(pipe.number, for: .readable, retrying: true) { [self] _ in
            if !read() { reactor.change(pipe.number, to: .nothing) }
        }
    }

    /// Reads some of the available output, since a program may write without end; false at the end.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(pipe.number, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        let good = buffer.prefix(min(count, max(0, limit - used)))
        used += good.count
        leftOut += count - good.count
        for byte in good {
            if byte == UInt8(ascii: "\n") || rest.count >= Self.lineLimit { flush() }
            if byte != UInt8(ascii: "\n") { rest.append(byte) }
        }
        return true
    }

    private func flush() {
        let text = SafeText.clean(String(decoding: rest, as: UTF8.self), unicode: true)
        rest = []
        if !text.isEmpty { line(text) }
    }

    /// Reads the rest of a program that has ended; further output of its children is discarded.
    func finish(_ reactor: Reactor) {
        reactor.unwatch(pipe.number)
        // The content of a full pipe (pipe(7)) at most: a child may be writing all the time.
        for _ in 0..<16 {
            let before = used + leftOut
            guard read(), used + leftOut > before else { break }
        }
        flush()
        if leftOut > 0 { line("(\(leftOut) bytes more)") }
    }
}
