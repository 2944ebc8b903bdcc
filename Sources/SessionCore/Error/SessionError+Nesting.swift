// SPDX-License-Identifier: Apache-2.0

extension SessionError {
    /// Puts one error under another.
    ///
    /// An outer error that has something underneath already stays as it is; without an outer error the inner one is the result.
    public static func nesting(_ inner: SessionError?, in outer: SessionError?) -> SessionError? {
        guard let outer else { return inner }
        guard let inner, outer.underlying == nil else { return outer }
        return outer.with(underlying: inner)
    }

    /// Whether this error, or one underneath it, has the code and comes from the domain.
    public func contains(_ code: Code, in domain: Domain) -> Bool {
        var current: SessionError? = self
        while let error = current {
            if error.code == code, error.domain == domain { return true }
            current = error.underlying as? SessionError
        }
        return false
    }
}
