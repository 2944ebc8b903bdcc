// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A device whose flash was mounted read-only, as ext4 is after an error.
@Suite(
    "A disk that is mounted read-only", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ReadOnlyDiskTests {
    @Test(
        "the service watches, keeps what it can when the disk can be written again, and its history is read without that",
        arguments: ["TERM", "KILL"])
    func life(signal: String) async throws {
        let (lab, folder) = (try await NetworkLab(.f1), try ScratchFolder("reach-read-only"))
        // Nobody answers at that port. A polling loop ends with the time-out around all of it.
        let script = """
            mount -t tmpfs none /mnt && mkdir -m 700 /mnt/state && mount -o remount,ro /mnt || exit 99
            "$0" serve --socket "$1/socket" --state-directory /mnt/state 2>"$1/log" & service=$!
            export REACH_SOCKET=$1/socket
            until [ -S "$REACH_SOCKET" ]; do sleep 0.02; done
            "$0" status || exit 1
            "$0" send http://10.0.0.1:9/ && exit 2
            mount -o remount,rw /mnt
            until "$0" send http://10.0.0.1:9/ 2>/dev/null; do sleep 0.05; done
            ip link set v0 down
            "$0" wait --for unreachable --timeout 30 || exit 3
            until "$0" history --json --state-directory /mnt/state | grep -q '"unreachable"'; do sleep 0.05; done
            kill -\(signal) $service
            wait $service
            mount -o remount,ro /mnt || exit 4
            cat "$1/log" >&2
            "$0" history --json --state-directory /mnt/state
            """
        let end = try await lab.near.reactor.run([
            "timeout", "60", "unshare", "--mount", "sh", "-c", script, BuiltProgram.reach, folder.path,
        ])
        #expect(end.status == .exited(0), "\(end.text)\(end.errors)")
        #expect(end.errors.contains("/mnt/state: Read-only file system; mount it"), "\(end.errors)")
        #expect(end.errors.contains("notice: history: changes are kept again"), "\(end.errors)")
        // The first status came while nothing could be written.
        let told = try #require(end.text.split(separator: #""changes":["#).last)
        #expect(told.contains(#""status":"wired""#) && told.contains(#""status":"unreachable""#), "\(told)")
    }

    @Test(
        "a state directory that is mounted read-only: the network is watched, and the log says what is not kept",
        arguments: [true, false])
    func readOnlyState(exists: Bool) async throws {
        let disk = try await SmallDisk(bytes: 1 << 20)
        let state = disk.path + "/state"
        if exists { #expect(mkdir(state, 0o700) == 0) }
        try await disk.setReadOnly(true)
        let lab = try await ServeLab(state: state)
        #expect(try await lab.ask("GetStatus").contains(#""status": "wired""#))
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes({ $0.contains { $0.hasPrefix("STATUS=unreachable: v0") } }))
        let sent = try await lab.lab.near.reactor.run([
            "env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "send", "http://10.0.0.1/",
        ])
        #expect(sent.status != .exited(0))
        #expect(sent.errors.contains("\(state): Read-only file system; mount it"), "\(sent.errors)")
        #expect(try await lab.stop() == .exited(0))
        let log = lab.service.standardError
        #expect(log.contains("error: history: \(state): Read-only file system"), "\(log)")
        #expect(log.contains("error: outbox: \(state): Read-only file system"), "\(log)")
    }
}
