// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What goes wrong with files, as errors which say what to do.
package enum FileFailure {
    package static func cannotRead(_ path: String, _ error: Int32) -> SessionError {
        let code: SessionError.Code =
            switch error {
            case ENOENT, ENOTDIR: .fileDoesNotExist
            case EACCES, EPERM: .noPermissionsToReadFile
            default: .cannotOpenFile
            }
        let isMissing = code == .fileDoesNotExist
        let failure = self.error(code, "cannot read \(path)", error)
        return isMissing ? failure.with(advice: "check its name") : failure
    }

    package static func cannotCreate(_ path: String, _ error: Int32) -> SessionError {
        self.error(.cannotCreateFile, "cannot create \(path)", error)
    }

    package static func cannotWrite(_ path: String, _ error: Int32) -> SessionError {
        self.error(.cannotWriteToFile, "cannot write \(path)", error)
    }

    package static func cannotMove(_ source: String, to path: String, _ error: Int32) -> SessionError {
        self.error(.cannotMoveFile, "cannot move \(source) to \(path)", error)
    }

    package static func cannotPutFile(_ path: String, _ error: Int32) -> SessionError {
        self.error(.cannotMoveFile, "cannot put a file at \(path)", error)
    }

    /// Why no file can have this path; nil where one can.
    ///
    /// The kernel would end the path at a NUL, and name another file.
    package static func fault(ofPath path: String) -> SessionError? {
        guard path.utf8.contains(0) else { return nil }
        return SessionError(
            .cannotOpenFile, "the path \(TextQuote(path)) has a NUL character in it",
            advice: "name the file without")
    }

    /// Whether an error of these says that the disk, or the user's share of it, is full.
    package static func isDiskFull(_ error: SessionError) -> Bool {
        error.remedy == .freeSpace
    }

    private static func error(
        _ code: SessionError.Code, _ what: String, _ number: Int32
    ) -> SessionError {
        let message = "\(what): \(String(cString: strerror(number)))"
        switch number {
        case ENOSPC, EDQUOT: return SessionError(code, message, remedy: .freeSpace)
        default: return SessionError(code, message, advice: advice(number))
        }
    }

    private static func advice(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "make the directory first"
        case EACCES, EPERM: "check the permissions of the file and of its directory"
        case EROFS: "the file system is mounted read-only: choose another place"
        case EISDIR: "move it away, or choose another name"
        case ENAMETOOLONG: "choose a shorter name: others stand beside it, with .part.resume at their end"
        case ELOOP: "symbolic links are not followed there: remove it, or choose another name"
        case EEXIST: "remove it first, or choose another name"
        case EMFILE, ENFILE: "too many files are open: raise the limit (ulimit -n) or transfer less at once"
        default: ""
        }
    }
}
