// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
package import Logging
package import ReachabilityCore
package import ServiceCore
import Synchronization

/// Writes the service's log to standard error, with the journal's priorities or with the time.
///
/// A line that cannot be written at once is dropped and counted, so the loop never blocks.
package struct ServiceLogHandler: LogHandler {
    /// The sink's, unless this logger has one of its own.
    package var logLevel: Logger.Level {
        get { own ?? sink.level.level }
        set { own = newValue }
    }
    private var own: Logger.Level?
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let sink: LogSink

    package init(_ sink: LogSink) { self.sink = sink }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var text = "\(event.message)"
        let all = (metadataProvider?.get() ?? [:]).merging(metadata) { $1 }
            .merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
        sink.write(LogPriority(event.level), text)
    }
}

/// The descriptor that all loggers of a service share.
package final class LogSink: Sendable {
    private let descriptor: Int32
    private let isJournal: Bool
    private let clock: @Sendable () -> WallTime
    private let dropped = Mutex(0)
    private let least: Mutex<LogPriority>

    /// The lowest priority that is written.
    package var level: LogPriority {
        get { least.withLock { $0 } }
        set { least.withLock { $0 = newValue } }
    }

    /// A pipe accepts this many bytes at once or none (PIPE_BUF, pipe(7)).
    private static let limit = 4096

    /// - Parameter format: `journal`, `plain`, or `auto` for the journal if it reads the descriptor.
    package init(
        descriptor: Int32, format: String, journalStream: String?, level: LogPriority = .info,
        clock: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        least = Mutex(level)
        self.descriptor = descriptor
        self.clock = clock
        switch format {
        case "journal": isJournal = true
        case "plain": isJournal = false
        default:
            var status = stat()
            isJournal =
                fstat(descriptor, &status) == 0
                && JournalStream.matches(
                    journalStream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
    }

    /// Writes a line.
    package func write(_ priority: LogPriority, _ text: String) {
        dropped.withLock { dropped in
            if dropped > 0 {
                guard put(.warning, "\(dropped) lines were lost: the log was not read") else {
                    dropped += 1
                    return
                }
                dropped = 0
            }
            if !put(priority, text) { dropped += 1 }
        }
    }

    private func put(_ priority: LogPriority, _ text: String) -> Bool {
        var line = TextLine()
        if isJournal {
            line.append("<\(priority.rawValue)>")
        } else {
            clock().append(to: &line)
            line.append(" \(priority.name): ")
        }
        // One message stays one line, without control characters.
        line.append(SafeText.clean(text, unicode: true))
        var bytes = line.bytes
        if bytes.count >= Self.limit {
            var end = Self.limit - 1
            // Never cuts within a character.
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes.removeSubrange(end...)
        }
        bytes.append(UInt8(ascii: "\n"))
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&poll, 1, 0) == 1, poll.revents & Int16(POLLOUT) != 0 else { return false }
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }
}

extension LogPriority {
    package init(_ level: Logger.Level) { self = Self.allCases.first { $0.level == level } ?? .debug }

    package var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}

extension Logger {
    /// The logger of the service's components.
    package static func service(_ sink: LogSink) -> Logger {
        Logger(label: "reach") { _ in ServiceLogHandler(sink) }
    }

    /// Logs a line with a priority.
    package func write(_ priority: LogPriority, _ text: String) { log(level: priority.level, "\(text)") }
}
