// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability

/// `reach record`: writes everything that a monitor sees to a file, for `reach replay`.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Write down what happens to the network, for 'reach replay'.",
        discussion: """
            Every event and every answer of the kernel becomes a line of text. The file tells the addresses and names of \
            this machine's links; look at it before you pass it on. It ends on SIGINT (exit code 130), or with \
            --count or --timeout.
            """)

    @Argument(
        help: ArgumentHelp(
            "The file to write, replaced if it exists; - for standard output.", valueName: "file"))
    var file = "-"

    @OptionGroup var subject: SubjectOptions

    @Option(
        name: .customLong("count"),
        help: ArgumentHelp("End after so many updates of status or path.", valueName: "n"),
        transform: Value.count)
    var count: Int?

    @Option(
        name: .customLong("timeout"), help: ArgumentHelp("End after so many seconds.", valueName: "seconds"),
        transform: Value.seconds)
    var timeout: Duration?

    func run() throws {
        let waiter = try MainThreadWaiter.begin(orExit: .cannotMonitor)
        let deadline = timeout.map { Clock.monotonic + $0 }
        let stream = try OutputFile(file, until: deadline)
        let configuration = subject.configuration()
        let start = Clock.monotonic
        let recorder = Recorder(
            RecordingHeader(
                start: start, wall: Clock.wall, host: subject.host?.text, configuration: configuration),
            stream, count: count, waiter: waiter)
        let manager = subject.manager(configuration, recorder: { recorder.record($0) })
        let observation = manager.observeReachability { _ in recorder.countUpdate() }
        manager.setLimitationBlock { complain($0) }
        try beginMonitoring(manager)
        let end = withExtendedLifetime((manager, observation)) {
            let end = waiter.wait(watchesOutput: file == "-", until: { deadline })
            // Stopping would wait for the loop, which may be blocked in a write without a reader.
            if end == .interrupted || end == .timedOut, stream.mayBlock {
                Self.exit(withError: end == .interrupted ? ExitCode.interrupted : nil)
            }
            return end
        }
        manager.stopMonitoring()
        if let problem = recorder.problem {
            complain("\(file): \(problem)")
            throw ExitCode.inputOutput
        }
        if end == .interrupted { throw ExitCode.interrupted }
    }
}
