// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SessionManager

/// The session manager with a probe, whose line dies: what the part line does to it.
struct Probed {
    private let manager: URLSessionManager
    private let probe: InternetProbe

    init(probe url: String) throws {
        ReachabilityManager.shared.startMonitoring()
        var configuration = InternetProbeConfiguration(try SessionRequest(url).url)
        configuration.timeout = .seconds(1)
        probe = try InternetProbe(configuration)
        // Each request over a connection of its own.
        var session = SessionConfiguration()
        session.maximumIdleConnections = 0
        manager = URLSessionManager(configuration: session, responseSerializer: DataResponseSerializer())
        manager.queue.internetProbe = probe
        probe.start()
    }

    /// Waits until the probe has found this behind the preferred uplink, and internet behind another one.
    private func wait(for state: InternetState) async {
        for await uplinks in probe.uplinkChanges
        where uplinks.first?.state == state && uplinks.dropFirst().contains(where: { $0.state == .full }) {
            return
        }
    }

    func download(_ url: String, to path: String) async throws -> Bool {
        await wait(for: .full)
        let destination = DownloadDestination(path, replacesExisting: true)
        _ = try await manager.download(SessionRequest(url), to: destination)
        return true
    }

    /// Prints the milliseconds of a new connection and its answer on a healthy path; and after a line on
    /// standard input, when the probe has found the dead line, the same again.
    func compare(_ url: String) async throws -> Bool {
        await wait(for: .full)
        try await time("healthy", url)
        guard readLine() != nil else { return false }
        probe.check()
        await wait(for: .limited)
        try await time("after", url)
        return true
    }

    /// Queues requests behind two dead lines, and prints the time from the first full answer of the probe to
    /// the last answer of a request; the lines die and come back when standard input and output say so.
    func hold(_ url: String, _ count: Int) async throws -> Bool {
        await wait(for: .full)
        print("ready")
        fflush(nil)
        guard readLine() != nil else { return false }
        probe.check()
        for await uplinks in probe.uplinkChanges where uplinks.allSatisfy({ $0.state == .limited }) { break }
        let tasks = try (0..<count).map { number in
            try manager.dataTask(
                with: SessionRequest("\(url)?held\(number)", method: .post, body: .data(Data("x".utf8))))
        }
        for task in tasks { task.resume() }
        while manager.queue.counts.waitingForNetwork < count { try await Task.sleep(for: .milliseconds(5)) }
        print("held")
        fflush(nil)
        for await uplinks in probe.uplinkChanges where uplinks.contains(where: { $0.state == .full }) {
            break
        }
        let clock = ContinuousClock()
        let start = clock.now
        var good = 0
        for task in tasks where await task.outcome().error == nil { good += 1 }
        print("late=\(milliseconds(clock.now - start)) answered=\(good)")
        return good == count
    }

    private func milliseconds(_ spent: Duration) -> Double {
        Double(spent.components.attoseconds) / 1e15 + Double(spent.components.seconds) * 1e3
    }

    private func time(_ word: String, _ url: String) async throws {
        var best = Duration.seconds(1000)
        for number in 0..<5 {
            let task = try manager.dataTask(with: SessionRequest("\(url)?\(word)\(number)"))
            let clock = ContinuousClock()
            let start = clock.now
            task.resume()
            guard await task.outcome().error == nil else { return }
            // The first request after the verdict is what counts; a healthy path is judged by its best one.
            let spent = clock.now - start
            best = word == "after" && number > 0 ? best : min(best, spent)
        }
        print("\(word)=\(milliseconds(best))")
        fflush(nil)
    }
}
