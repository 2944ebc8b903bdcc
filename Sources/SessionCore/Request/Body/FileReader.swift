// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads a body from a file, which has to keep the size that it had at the start.
package final class FileReader: BodyReader {
    /// The size in bytes when the file was opened.
    package let length: Int64
    private let path: String
    private let descriptor: Int32
    private var position: Int64 = 0

    /// Opens a file.
    ///
    /// - Parameter expected: the size that has been announced already.
    /// - Throws: what hinders the opening; ``SessionError/Code/requestBodyStreamExhausted`` for another size.
    package init(path: String, expected: Int64? = nil) throws(SessionError) {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        // Not blocking: opening a FIFO would wait for its writer. Regular files do not know the difference.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileFailure.cannotRead(path, errno) }
        self.path = path
        let size: Int64
        do throws(SessionError) {
            size = try Self.size(descriptor, path)
            if size == 0 { try Self.checkEmptiness(descriptor, path) }
        } catch {
            // A class whose initializer throws before all is set is not deinitialized.
            close(descriptor)
            throw error
        }
        length = size
        if let expected, expected != size { throw changed("changed its size") }
    }

    deinit { close(descriptor) }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        let wanted = min(buffer.count, Int(clamping: length - position))
        guard wanted > 0 else {
            try checkSize()
            return .end
        }
        var count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
        while count < 0, errno == EINTR {
            count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
        }
        guard count >= 0 else { throw FileFailure.cannotRead(path, errno) }
        guard count > 0 else {
            throw try Self.size(descriptor, path) == length ? Self.sizeless(path) : changed("shrank")
        }
        position += Int64(count)
        // Before the last bytes are handed over: a caller that knows the length does not ask for the end.
        if position == length { try checkSize() }
        return .bytes(count)
    }

    private func checkSize() throws(SessionError) {
        let size = try Self.size(descriptor, path)
        if size != length { throw changed(size > length ? "grew" : "shrank") }
    }

    private static func size(_ descriptor: Int32, _ path: String) throws(SessionError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.cannotRead(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SessionError(
                .fileDoesNotExist, "\(path) is no regular file",
                advice: "copy its content into a file")
        }
        return Int64(status.st_size)
    }

    /// Refuses a file that has content in spite of its size, 0.
    private static func checkEmptiness(_ descriptor: Int32, _ path: String) throws(SessionError) {
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, 0) > 0, try size(descriptor, path) == 0 else { return }
        throw sizeless(path)
    }

    /// Files of /proc have size 0, those of /sys that of a page.
    private static func sizeless(_ path: String) -> SessionError {
        SessionError(
            .cannotOpenFile, "\(path) has no size of its own: the kernel makes its content while it is read",
            advice: "copy its content into a file, or send it as data")
    }

    private func changed(_ how: String) -> SessionError {
        SessionError(
            .requestBodyStreamExhausted,
            "\(path) \(how) while it was sent: the server has got no complete request",
            advice: "send a copy that no program changes")
    }
}
