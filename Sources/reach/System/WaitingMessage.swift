// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// Prints a message on a terminal's standard error when its owner has been blocked for a moment.
///
/// Another thread prints it, since the owner's blocks; releasing the value ends the wait.
struct WaitingMessage: ~Copyable {
    /// Closed when neither thread needs it any more.
    private final class Bell: Sendable {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        deinit { close(number) }
    }

    private let bell: Bell?

    /// Prints the sentence after so many milliseconds, if a terminal shows it (`isSeen`).
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
