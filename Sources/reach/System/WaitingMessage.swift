// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// Prints on standard error, if that is a terminal, after a moment: the program waits and is not stuck.
///
/// For what blocks its thread; the words come from another one. It is over when it is let go of.
struct WaitingMessage: ~Copyable {
    /// Closed when neither thread needs it any more.
    private final class Bell: Sendable {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        deinit { close(number) }
    }

    private let bell: Bell?

    /// Begins to wait.
    ///
    /// - Parameters:
    ///   - sentence: without the program's name.
    ///   - delay: after how many milliseconds.
    ///   - stream: where.
    ///   - isSeen: whether it is a terminal; nothing is printed otherwise.
    init(
        _ sentence: String, after delay: Int32 = 1_000, on stream: StandardStream = .error,
        isSeen: Bool = isatty(STDERR_FILENO) == 1
    ) {
        guard isSeen else {
            bell = nil
            return
        }
        let bell = Bell()
        self.bell = bell
        // Without a thread there are no words, and nothing else is amiss.
        try? LoopThread.start(name: "reach-note") {
            var wait = pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0)
            if poll(&wait, 1, delay) == 0 { stream.write("reach: \(sentence)\n") }
        }.detach()
    }

    /// What was waited for is here.
    consuming func end() {}

    deinit {
        guard let bell else { return }
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }
}
