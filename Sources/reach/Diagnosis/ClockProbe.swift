// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionManager
import Synchronization

/// Reads this machine's clock.
enum ClockProbe {
    /// 2026-01-01, in seconds since 1970: older than any build of this program.
    private static let firstVersion: Int64 = 1_767_225_600

    static func observe() -> ClockEvidence {
        ClockEvidence(
            now: now, made: made, isSynchronized: ClockCalls.system.status().isSynchronized)
    }

    static var now: Int64 { Clock.wall.nanoseconds / 1_000_000_000 }

    /// The modification time of the program's file, which packages preserve; never before the first version.
    private static var made: Int64 {
        var file = stat()
        guard stat("/proc/self/exe", &file) == 0 else { return firstVersion }
        return max(firstVersion, Int64(file.st_mtim.tv_sec))
    }
}

/// Accepts every certificate and stores its validity; for requests that disclose nothing.
final class CertificateWitness: SessionDelegate {
    private let seen = Mutex<CertificateTimes?>(nil)

    /// The validity of the first certificate that is not valid now, mostly the server's; nil for none.
    var times: CertificateTimes? { seen.withLock { $0 } }

    var asksAboutServers: Bool { true }

    func session(
        _ session: Session, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition {
        let now = ClockProbe.now
        let times = challenge.peerTrust?.certificates.map {
            CertificateTimes(begins: $0.notBefore.map(Self.seconds), ends: $0.notAfter.map(Self.seconds))
        }
        seen.withLock { $0 = times?.first { !$0.contains(now) } }
        return .useCredential(.serverTrust)
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970.rounded(.down)) }
}
