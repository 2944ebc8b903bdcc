// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import EventLoop
import Glibc
import Reachability
import Synchronization

/// Looks up one name the way every program does, but waits no longer than ten seconds.
enum NameProbe {
    /// - Returns: nil if interrupted.
    /// - Throws: the exit code where no descriptor is left to wait with, when that has been said.
    static func observe(_ name: String) throws(ExitCode) -> NameObservation? {
        let waiter = try MainThreadWaiter.begin(orExit: .cannotMonitor)
        let answer = Mutex<NameObservation.Outcome?>(nil)
        let began = Clock.monotonic
        do throws(ReactorError) {
            try LoopThread.start(name: "reach-resolve") {
                let result = SystemResolver.addresses(of: name)
                answer.withLock {
                    switch result {
                    case .success(let found): $0 = .found(found.map(\.address))
                    case .failure(.noSuchName): $0 = .noSuchName
                    case .failure(.temporary): $0 = .noAnswer
                    }
                }
                waiter.finish()
            }.detach()
        } catch { throw cannotLookUp(name, error) }
        let limit = began + .seconds(10)
        if waiter.wait(watchesOutput: false, until: { limit }) == .interrupted { return nil }
        if case .found? = answer.withLock({ $0 }) {
        } else if let failure = shortage() {
            throw cannotLookUp(name, failure)
        }
        return NameObservation(
            name: name, outcome: answer.withLock { $0 } ?? .noAnswer, took: Clock.monotonic - began,
            servers: servers())
    }

    /// Why a lookup had no descriptors to work with: it ends as if there was no such name then
    /// (getaddrinfo(3)).
    private static func shortage() -> ReactorError? {
        // One for a file such as /etc/hosts, one for a question to a name server.
        do throws(ReactorError) {
            let first = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
            let second = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
            (_, _) = (first.number, second.number)
            return nil
        } catch { return error.errno == EMFILE || error.errno == ENFILE ? error : nil }
    }

    /// Says so; the exit code.
    private static func cannotLookUp(_ name: String, _ error: ReactorError) -> ExitCode {
        complain("\(name) cannot be looked up: \(error)")
        return .cannotMonitor
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
