// SPDX-License-Identifier: Apache-2.0

/// How long programs have to wait for memory before that counts as pressure.
///
/// Waiting for memory means that a thread could run and does not, since the kernel has to take memory from somebody else or to read
/// back what it took: Linux's pressure stall information (Documentation/accounting/psi.rst).
public struct MemoryPressureThreshold: Sendable, Equatable, Codable {
    /// Who has to wait.
    public enum Extent: String, Sendable, Codable, CaseIterable {
        /// At least one thread.
        case some
        /// All that could run, so that no work is done at all.
        case full
    }

    /// Who has to wait; some.
    public var extent = Extent.some
    /// For how long within the window, more than nothing and not longer than it; 150 ms.
    public var stall = Duration.milliseconds(150)
    /// Within which time, 0.5 to 10 s; 2 s.
    ///
    /// Processes without CAP_SYS_RESOURCE may only have multiples of 2 s.
    public var window = Duration.seconds(2)

    /// The defaults.
    public init() {}

    /// What is written to a pressure file, in microseconds.
    ///
    /// - Throws: ``SessionError/Code/unsupportedBySystem`` for times that no kernel takes.
    package var trigger: String {
        get throws(SessionError) {
            guard window >= .milliseconds(500), window <= .seconds(10), stall > .zero, stall <= window,
                Self.microseconds(stall) > 0
            else {
                throw SessionError(
                    .unsupportedBySystem, "a stall of \(stall) within \(window) is no threshold",
                    advice:
                        "choose a window of 0.5 to 10 seconds, and a stall of at least a microsecond within it"
                )
            }
            return "\(extent.rawValue) \(Self.microseconds(stall)) \(Self.microseconds(window))"
        }
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    }
}
