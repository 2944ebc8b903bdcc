// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// Prints a message on standard error, if that is a terminal, when its owner has been blocked for a moment.
///
/// The message is printed by another thread, since the owner's thread blocks. Releasing the value ends the
/// wait.
struct WaitingMessage: ~Copyable {
    /// Closed when neither thread needs it any more.
    private final class Bell: Sendable {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        deinit { close(number) }
    }

    private let bell: Bell?

    /// Starts the wait.
    ///
    /// - Parameters:
    ///   - sentence: the message without the program's name.
    ///   - delay: the delay in milliseconds.
    ///   - stream: the destination.
    ///   - isSeen: whether it is a terminal; else nothing is printed.
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
        // Without a thread the message is missing, and nothing else.
        try? LoopThread.start(name: "reach-note") {
            var wait = pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0)
            if poll(&wait, 1, delay) == 0 { stream.write("reach: \(sentence)\n") }
        }.detach()
    }

    /// Ends the wait without a message.
    consuming func end() {}

    deinit {
        guard let bell else { return }
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }
}
