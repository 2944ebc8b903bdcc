// SPDX-License-Identifier: Apache-2.0

import CRuntime
import Glibc

/// The program's arguments without its name.
enum ProgramArguments {
    /// Read from the C library, else from the kernel; nil without either.
    ///
    /// `CommandLine` is not used: if it finds no arguments it looks like a call without any, which means
    /// `reach status`.
    static var own: [String]? {
        let count = Int(cruntime_argument_count())
        guard count > 0, let words = cruntime_arguments() else {
            return fromKernel("/proc/self/cmdline").map { Array($0.dropFirst()) }
        }
        return (1..<max(1, count)).compactMap { words[$0].map { String(cString: $0) } }
    }

    /// The words of a file such as /proc/self/cmdline (proc_pid_cmdline(5)): each ends with a NUL.
    static func fromKernel(_ path: String) -> [String]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        guard bytes.last == 0 else { return nil }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
