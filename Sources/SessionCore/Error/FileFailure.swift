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
        return SessionError(
            code, "cannot read \(path): \(text(error))",
            advice: isMissing ? "check its name" : advice(error))
    }

    package static func cannotCreate(_ path: String, _ error: Int32) -> SessionError {
        SessionError(.cannotCreateFile, "cannot create \(path): \(text(error))", advice: advice(error))
    }

    package static func cannotWrite(_ path: String, _ error: Int32) -> SessionError {
        SessionError(.cannotWriteToFile, "cannot write \(path): \(text(error))", advice: advice(error))
    }

    package static func cannotMove(_ source: String, to path: String, _ error: Int32) -> SessionError {
        SessionError(
            .cannotMoveFile, "cannot move \(source) to \(path): \(text(error))", advice: advice(error))
    }

    /// Whether an error of these says that the disk, or the user's share of it, is full.
    package static func isDiskFull(_ error: SessionError) -> Bool {
        [.cannotWriteToFile, .cannotCreateFile, .cannotMoveFile].contains(error.code)
            && error.advice == advice(ENOSPC)
    }

    private static func text(_ error: Int32) -> String { String(cString: strerror(error)) }

    private static func advice(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "make the directory first"
        case EACCES, EPERM: "check the permissions of the file and of its directory"
        case ENOSPC, EDQUOT: "free some space; nothing that was there before has been changed"
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
