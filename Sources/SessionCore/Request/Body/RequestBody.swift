// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import Glibc

/// The content of a request.
///
/// Indirect: most requests have none, and then it is one word that is copied with them.
public indirect enum RequestBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file, read while it is sent; its size is taken when the transfer starts.
    ///
    /// A file that vanishes, shrinks or grows meanwhile ends the task with an error, never with a short body,
    /// and so does one without a size of its own, as those of /proc.
    case file(path: String)
    /// Bytes from elsewhere, for instance a multipart form or a live source.
    case stream(any BodySource)

    /// The bytes to come; nil where they are not known before the end (sent chunked then) or for a file.
    public var length: Int64? {
        switch self {
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let source): source.length
        }
    }

    /// Whether it can be sent a second time: after a redirect that keeps it, a challenge, a lost connection.
    public var isRewindable: Bool {
        switch self {
        case .data, .file: true
        case .stream(let source): source.isRewindable
        }
    }
}

/// Something a body can be read from, perhaps several times.
///
/// A redirect (307, 308), a challenge and a retry send the body again: each asks for a new reader.
public protocol BodySource: Sendable {
    /// The exact number of bytes, as `Content-Length`; nil if unknown: sent chunked then (RFC 9112 §7.1).
    ///
    /// Fewer bytes fail the task, and so do more, where the source has them by the time that the last
    /// announced byte is sent.
    var length: Int64? { get }
    /// Whether `makeReader` may be called again after a reader has been used.
    var isRewindable: Bool { get }
    /// A reader that starts at the first byte.
    ///
    /// - Throws: ``SessionError/Code/requestBodyStreamExhausted`` where a source that cannot be rewound has
    ///   been used already, or what hinders the opening.
    func makeReader() throws(SessionError) -> any BodyReader
}

/// One pass over a body; used by one thread at a time, the one that transfers.
public protocol BodyReader: AnyObject {
    /// Fills the beginning of `buffer` with the next bytes.
    ///
    /// It must not wait: a source that has nothing yet answers ``BodyRead/notYet`` and calls what
    /// `whenReadable` was given as soon as it has.
    ///
    /// - Throws: whatever ends the transfer: the task fails with this error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead
    /// Takes what is called, on any thread, when a reader that answered ``BodyRead/notYet`` has something.
    func whenReadable(_ callback: @escaping @Sendable () -> Void)
}

extension BodyReader {
    /// For readers which always have something: nothing is kept.
    public func whenReadable(_ callback: @escaping @Sendable () -> Void) {}
}

/// What a reader had.
public enum BodyRead: Sendable, Equatable {
    /// The number of bytes written, at least one.
    case bytes(Int)
    /// The body is complete.
    case end
    /// Nothing at the moment.
    case notYet
}

/// A body that is in memory.
package struct DataBody: BodySource {
    package let data: Data

    package init(_ data: Data) { self.data = data }

    package var length: Int64? { Int64(data.count) }
    package var isRewindable: Bool { true }

    package func makeReader() throws(SessionError) -> any BodyReader { DataReader(data) }
}

/// Reads a body that is in memory.
package final class DataReader: BodyReader {
    private let data: Data
    private var position: Int

    package init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let count = min(buffer.count, data.endIndex - position)
        guard count > 0 else { return .end }
        data.copyBytes(to: buffer, from: position..<(position + count))
        position += count
        return .bytes(count)
    }
}

/// A file as a part of a body: its size is taken now, its content read while it is sent.
package struct FileBody: BodySource {
    package let path: String
    private let size: Int64

    package var length: Int64? { size }
    package var isRewindable: Bool { true }

    /// A file that is there.
    ///
    /// - Throws: ``SessionError/Code/badURL`` with AFNetworking's words where no regular file can be read.
    package init(path: String) throws(SessionError) {
        self.path = path
        do throws(SessionError) {
            size = try FileReader(path: path).length
        } catch {
            throw SessionError(
                .badURL, "File URL not reachable.", advice: error.message, domain: .requestSerialization,
                underlying: error)
        }
    }

    package func makeReader() throws(SessionError) -> any BodyReader {
        try FileReader(path: path, expected: size)
    }
}
