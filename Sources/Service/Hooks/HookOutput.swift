// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ServiceCore

/// What a hook writes, as lines for the log; so many bytes at most, the rest is read and counted.
final class HookOutput {
    private let pipe: OwnedDescriptor
    private let line: (String) -> Void
    private let limit: Int
    private var rest: [UInt8] = []
    private var taken = 0
    private var leftOut = 0

    // A line of the log has no more.
    private static let lineLimit = 1000

    init(_ pipe: consuming OwnedDescriptor, limit: Int, line: @escaping (String) -> Void) throws(ReactorError)
    {
        guard fcntl(pipe.number, F_SETFL, O_NONBLOCK) == 0 else { throw ReactorError("fcntl", errno: errno) }
        self.pipe = pipe
        self.limit = limit
        self.line = line
    }

    func begin(_ reactor: Reactor) {
        _ = try? reactor.watch(pipe.number, for: .readable) { [self] _ in
            if !read() { reactor.change(pipe.number, to: .nothing) }
        }
    }

    /// Reads all available output; false at the end.
    ///
    /// A program that writes without an end gets its turn like everything else on the loop.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(pipe.number, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        let good = buffer.prefix(min(count, max(0, limit - taken)))
        taken += good.count
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
        // At most what a pipe holds (pipe(7)): a child may be writing all the time.
        for _ in 0..<16 {
            let before = taken + leftOut
            guard read(), taken + leftOut > before else { break }
        }
        flush()
        if leftOut > 0 { line("(\(leftOut) bytes more)") }
    }
}
