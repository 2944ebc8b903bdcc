// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite struct OriginLifeTests {
    @Test("An origin that is stopped leaves no process and no file")
    func stops() async throws {
        let origin = try await Origin()
        #expect(access(origin.folder, F_OK) == 0)
        #expect(origin.processes.allSatisfy { kill($0, 0) == 0 })
        #expect(await origin.stop() == .exited(0))
        #expect(access(origin.folder, F_OK) != 0)
        #expect(origin.processes.allSatisfy { kill($0, 0) != 0 })
    }

    @Test("It ends with its owner even where that is killed")
    func ownerKilled() async throws {
        let origin = try await Origin.shared
        let script = """
            import json, os, select, signal, subprocess, sys
            owner = subprocess.Popen(
                [sys.executable, "-c", "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE).wait()",
                 *sys.argv[1:]], stdout=subprocess.PIPE)
            ready = json.loads(owner.stdout.readline())
            processes = [os.pidfd_open(ready[name]) for name in ("process", "nginx")]
            owner.send_signal(signal.SIGKILL)
            for process in processes:
                if not select.select([process], [], [], 10)[0]:
                    print("a process is left")
            print("a folder is left" if os.path.exists(ready["folder"]) else "nothing is left")
            """
        let result = try await origin.run(["/usr/bin/python3", "-c", script] + Origin.command)
        #expect(result.text == "nothing is left\n", "\(result.errors)")
    }

    @Test("Where it is killed itself, nginx ends, and the next one removes what it has left")
    func killed() async throws {
        let shared = try await Origin.shared
        let origin = try await Origin()
        let script = """
            import os, select, signal, sys
            nginx = os.pidfd_open(int(sys.argv[2]))
            os.kill(int(sys.argv[1]), signal.SIGKILL)
            print("ended" if select.select([nginx], [], [], 10)[0] else "left")
            """
        let processes = origin.processes.map { String($0) }
        let result = try await shared.run(["/usr/bin/python3", "-c", script] + processes)
        #expect(result.text == "ended\n", "\(result.errors)")
        #expect(await origin.stop() == .killed(signal: SIGKILL))
        _ = await (try await Origin()).stop()
        #expect(access(origin.folder, F_OK) != 0)
    }

    @Test("A question to an origin that has ended is answered by why")
    func questionsAfterTheEnd() async throws {
        let origin = try await Origin()
        _ = await origin.stop()
        await #expect(throws: LabError.self) { try await origin.count("x") }
    }
}
