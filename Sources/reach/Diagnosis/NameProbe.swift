// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import Synchronization

/// Looks up one name with getaddrinfo(3), as other programs do, but for ten seconds at most.
enum NameProbe {
    /// - Returns: nil if interrupted.
    /// - Throws: the exit code, after the message, if no descriptor is left to wait with.
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
        var seen = NameObservation(
            name: name, outcome: answer.withLock { $0 } ?? .noAnswer, took: Clock.monotonic - began,
            servers: servers())
        // getaddrinfo(3) reports a server that refuses as one that is silent.
        if seen.outcome == .noAnswer {
            seen.refusals = seen.servers.prefix(mostServers).compactMap { refusal(of: name, by: $0) }
        }
        return seen
    }

    // As many as the resolver asks (MAXNS, resolv.conf(5)).
    private static let mostServers = 3
    private static let patience: Int32 = 1_000

    /// Asks one server for the IPv4 address of a name, for a second; nil if it is silent, or has an answer.
    private static func refusal(of name: String, by server: String) -> NameServerRefusal? {
        guard let address = IPAddress(server),
            let question = DNSMessage.question(name, .ipv4, id: .random(in: 0...UInt16.max))
        else { return nil }
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = socket(address.family == .ipv4 ? AF_INET : AF_INET6, kind, 0)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(adopting: number)
        guard PeerAddress(address: address, port: 53).connect(descriptor.number) == 0,
            send(descriptor.number, question, question.count, 0) == question.count
        else { return nil }
        var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, patience) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0, let code = DNSMessage.code(Array(buffer[..<count]), to: question), code != 0
        else { return nil }
        return NameServerRefusal(server: server, code: code)
    }

    /// The lack of descriptors that getaddrinfo(3) reports as a missing name; nil if there are enough.
    private static func shortage() -> ReactorError? {
        // One for a file such as /etc/hosts, one for a query to a name server.
        do throws(ReactorError) {
            let first = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
            let second = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
            (_, _) = (first.number, second.number)
            return nil
        } catch { return error.errno == EMFILE || error.errno == ENFILE ? error : nil }
    }

    /// Prints the message; returns the exit code.
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

/// Reads small files of the system.
enum SystemText {
    /// The words of each line; none if the file cannot be read.
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
