// SPDX-License-Identifier: Apache-2.0

import Glibc

extension SessionRequest {
    /// Writes the body into a file and returns the request with that file as its body.
    ///
    /// For bodies whose parts would change, or be gone, before they are sent. The work is done when this
    /// returns, whatever it takes: call it where waiting does no harm. A throttle of the body does not apply.
    ///
    /// - Parameters:
    ///   - path: the file to make; readable by its owner alone.
    ///   - replacing: whether a file that is there is replaced, once the new one is complete.
    /// - Throws: what reading the body throws; ``SessionError/Code/cannotCreateFile``, also for an existing
    ///   file; ``SessionError/Code/cannotWriteToFile``; ``SessionError/Code/requestBodyStreamExhausted`` for
    ///   a source that has nothing yet. Nothing is left of the file then.
    public func writingBody(toFile path: String, replacing: Bool = false) throws(SessionError)
        -> SessionRequest
    {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        let reader: any BodyReader
        switch body {
        case nil: return self
        case .data(let data): reader = DataReader(data)
        case .file(let source): reader = try FileReader(path: source)
        case .stream(let source): reader = try ((source as? ThrottledBody)?.source ?? source).makeReader()
        }
        let writing = replacing ? "\(path).\(getpid())-\(UInt32.random(in: 0...UInt32.max)).partial" : path
        let descriptor = open(writing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        do throws(SessionError) {
            let copied = Result { () throws(SessionError) in try Self.copy(reader, to: descriptor, path) }
            // Some file systems report only now that there was no space left.
            let closed = close(descriptor)
            try copied.get()
            guard closed == 0 else { throw FileFailure.cannotWrite(path, errno) }
            if replacing, rename(writing, path) != 0 {
                throw FileFailure.cannotMove(writing, to: path, errno)
            }
        } catch {
            unlink(writing)
            throw error
        }
        var request = self
        request.body = .file(path: path)
        return request
    }

    private static func copy(
        _ reader: any BodyReader, to descriptor: Int32, _ path: String
    ) throws(SessionError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            switch try reader.read(into: buffer) {
            case .end: return
            case .notYet:
                throw SessionError(
                    .requestBodyStreamExhausted, "the body's source has nothing yet and cannot be waited for",
                    advice: "send the request itself, or write the file from the source")
            case .bytes(let count):
                var rest = buffer[..<count]
                while !rest.isEmpty {
                    let written = write(
                        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if written < 0, errno == EINTR { continue }
                    guard written >= 0 else { throw FileFailure.cannotWrite(path, errno) }
                    rest = rest.dropFirst(written)
                }
            }
        }
    }
}
