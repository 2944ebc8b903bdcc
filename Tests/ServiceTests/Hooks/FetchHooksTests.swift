// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Service
import ServiceCore
import TestSupport
import Testing

@Suite("Hooks: fetched files", .timeLimit(.minutes(10)))
struct FetchHooksTests {
    private func bench(_ hooks: [String: String], directory: String? = nil) async throws
        -> ServiceBench<FetchHooks>
    {
        let folder = try ScratchFolder("reach-hooks")
        for (name, body) in hooks {
            let descriptor = try OwnedDescriptor(
                "open", open(folder(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o700))
            let text = "#!/bin/sh\n\(body)\n"
            #expect(write(descriptor.number, text, text.utf8.count) == text.utf8.count)
        }
        return try await ServiceBench(in: folder) { folder, files, counters in
            var settings = ServiceConfiguration.Hooks()
            settings.directory = directory ?? folder.path
            settings.timeout = .seconds(600)
            return FetchHooks(settings, files: files, counters: counters)
        }
    }

    private func event(_ number: Int) -> FetchedEvent {
        FetchedEvent(
            .fetched, request: "\(number)", path: "/data/a b", url: "https://h/\u{1B}[31mx", sha256: "ab",
            bytes: 7)
    }

    @Test(
        "OBX-340 Each file is told to each program, in order, with path, URL, checksum and outcome, and none is left out"
    )
    func reported() async throws {
        let bench = try await bench([
            "10-a":
                "echo $1 \"$2\" $REACH_EVENT $REACH_FETCH_OUTCOME \"$REACH_FETCH_PATH\" $REACH_FETCH_CHECKSUM "
                + "$REACH_FETCH_BYTES $REACH_FETCH_REQUEST; echo \"$REACH_FETCH_URL\" | grep -c '\u{1B}'; exit 3",
            "20-b": "echo $REACH_FETCH_REQUEST $REACH_FETCH_OUTCOME $REACH_FETCH_REASON",
        ])
        let done = EventLog<Bool>()
        let events = [
            event(1),
            FetchedEvent(.dead, request: "2", path: "/p", url: "u", reason: "the server answered 404"),
        ]
        _ = try await bench.ask { hooks in for event in events { hooks.run(event) { done.append($0) } } }
        #expect(await done.wait(forCount: 2) == [true, true])
        #expect(
            bench.log.elements == [
                "info: hook 10-a: fetched /data/a b fetched fetched /data/a b ab 7 1", "info: hook 10-a: 0",
                "warning: hook 10-a failed with exit code 3", "info: hook 20-b: 1 fetched",
                "info: hook 10-a: fetched /p fetched dead /p 2", "info: hook 10-a: 0",
                "warning: hook 10-a failed with exit code 3",
                "info: hook 20-b: 2 dead the server answered 404",
            ])
        #expect(try await bench.counters { [$0.hookRuns, $0.hookFailures] } == [4, 2])
        await bench.stop()
    }

    @Test(
        "OBX-341 When the service ends, what was not told is not taken for told; without a directory all is")
    func stopped() async throws {
        let bench = try await bench(["a": "echo begun; exec sleep 600"])
        let done = EventLog<Bool>()
        let events = [event(1), event(2)]
        _ = try await bench.ask { hooks in for event in events { hooks.run(event) { done.append($0) } } }
        await bench.log.wait { $0.contains("info: hook a: begun") }
        await bench.stop()
        #expect(done.elements == [false, false])
        _ = try await bench.ask { hooks in hooks.run(events[0]) { done.append($0) } }
        #expect(await done.wait(forCount: 3).last == false)

        let none = try await self.bench([:], directory: "")
        _ = try await none.ask { hooks in hooks.run(events[0]) { done.append($0) } }
        #expect(await done.wait(forCount: 4).last == true)
        await none.stop()
    }
}
