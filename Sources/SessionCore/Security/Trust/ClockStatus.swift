// SPDX-License-Identifier: Apache-2.0

/// What is known of this machine's wall clock, and which refusals of a certificate it explains.
///
/// A device without a battery for its clock starts in 1970, or where it was switched off, until something
/// sets the clock; no certificate of today is valid then.
package struct ClockStatus: Sendable, Equatable {
    /// Whether the kernel was told that something keeps the clock right; true where the kernel does not say.
    package var isSynchronized: Bool
    /// What the clock shows, in seconds since 1970.
    package var seconds: Int64

    package init(isSynchronized: Bool, seconds: Int64) {
        self.isSynchronized = isSynchronized
        self.seconds = seconds
    }

    /// Why requests wait for the clock, without a full stop.
    package static let sentence = "this machine's clock is not set"

    /// 2056-01-01, thirty years after the first version: a clock that shows more is wrong.
    private static let latest: Int64 = 2_713_910_400

    /// Whether a failure is about the dates of a server's certificate, as the trust roots verify it.
    ///
    /// Pinned certificates are renewed with the device, so their dates are no matter of the clock alone.
    package static func concerns(_ error: SessionError) -> Bool {
        guard error.code == .certificateNotYetValid || error.code == .certificateHasBadDate else {
            return false
        }
        return (error.underlying as? TrustRefusal).map { $0.step == .chain } ?? true
    }

    /// Whether a wrong clock explains a failure.
    ///
    /// Certificates are made before they are used, so one that is not valid yet shows a clock that is behind.
    /// Expired ones are common, and show nothing unless the clock is absurdly ahead.
    package func explains(_ error: SessionError) -> Bool {
        guard !isSynchronized, Self.concerns(error) else { return false }
        return error.code == .certificateNotYetValid || seconds >= Self.latest
    }
}
