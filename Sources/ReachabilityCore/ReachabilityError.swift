// SPDX-License-Identifier: Apache-2.0

/// Why reachability cannot be told, with what to do about it.
public struct ReachabilityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// More may come.
    public struct Code: RawRepresentable, Sendable, Equatable, CustomStringConvertible {
        /// The word.
        public let rawValue: String
        /// A code with this word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The word.
        public var description: String { rawValue }

        /// The kernel, a container or a seccomp filter refuses netlink sockets.
        public static let netlinkRefused = Code(rawValue: "netlinkRefused")
        /// The kernel did not answer in time.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The network namespace cannot be entered.
        public static let namespaceRefused = Code(rawValue: "namespaceRefused")
        /// No descriptor, thread or memory was left.
        public static let outOfResources = Code(rawValue: "outOfResources")
        /// A host name, address or recording cannot be read.
        public static let invalidInput = Code(rawValue: "invalidInput")
        /// The kernel's answer made no sense.
        public static let protocolViolation = Code(rawValue: "protocolViolation")
    }

    /// The kind of failure.
    public let code: Code
    /// The errno(3) underneath; 0 where there is none.
    public let errno: Int32
    /// What was tried and where.
    public let context: String
    /// What to try.
    public let advice: String

    /// An error.
    public init(_ code: Code, errno: Int32 = 0, context: String, advice: String) {
        self.code = code
        self.errno = errno
        self.context = context
        self.advice = advice
    }

    /// What, where, and what to try, in one line.
    public var description: String { advice.isEmpty ? context : "\(context); \(advice)" }
}
