// SPDX-License-Identifier: Apache-2.0

/// Settings that can be written as one expression.
///
///     let options = TaskOptions {
///         $0.lane = "telemetry"
///         $0.offlineLimit = .seconds(600)
///     }
///
/// All settings of this library have it, so that none needs a variable of its own.
public protocol Configurable {
    /// The defaults.
    init()
}

extension Configurable {
    /// The defaults with changes.
    ///
    /// - Throws: what the closure throws.
    public init<Failure: Error>(_ configure: (inout Self) throws(Failure) -> Void) throws(Failure) {
        self.init()
        try configure(&self)
    }
}
