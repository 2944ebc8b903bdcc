// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import Synchronization

/// Looks up one name the way every program does, but waits no longer than ten seconds.
enum NameProbe {
    /// - Returns: nil where somebody interrupted it.
    static func observe(_ name: String) -> NameObservation? {
        let vigil = Vigil()
        let answer = Mutex<NameObservation.Outcome?>(nil)
        let began = Clock.monotonic
        SystemResolver().resolve(name, in: nil) { result in
            answer.withLock {
                switch result {
                case .success(let found): $0 = .found(found.map(\.address))
                case .failure(.noSuchName): $0 = .noSuchName
                case .failure(.temporary): $0 = .noAnswer
                }
            }
            vigil.finish()
        }
        let limit = began + .seconds(10)
        if vigil.wait(watchesOutput: false, until: { limit }) == .interrupted { return nil }
        return NameObservation(
            name: name, outcome: answer.withLock { $0 } ?? .noAnswer, took: Clock.monotonic - began,
            servers: servers())
    }

    /// The name servers of resolv.conf(5).
    private static func servers() -> [String] {
        SystemText.lines("/etc/resolv.conf").compactMap { words in
            words.count >= 2 && words[0] == "nameserver" ? words[1] : nil
        }
    }
}

/// Small files of the system.
enum SystemText {
    /// The words of each line; none where the file cannot be read.
    static func lines(_ path: String) -> [[String]] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map {
            line in
            line.split { $0 == " " || $0 == "\t" }.map(String.init)
        }
    }
}
