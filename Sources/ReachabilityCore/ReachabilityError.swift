// SPDX-License-Identifier: Apache-2.0

/// The reason why reachability cannot be determined, with advice.
public struct ReachabilityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; later versions may add kinds.
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
        /// The kernel's answer was invalid.
        public static let protocolViolation = Code(rawValue: "protocolViolation")
    }

    /// The kind of failure.
    public let code: Code
    /// The errno(3) of the failure; 0 if there is none.
    public let errno: Int32
    /// The failed operation and its object.
    public let context: String
    /// What to try next.
    public let advice: String

    /// An error.
    public init(_ code: Code, errno: Int32 = 0, context: String, advice: String) {
        self.code = code
        self.errno = errno
        self.context = context
        self.advice = advice
    }

    /// Context and advice in one line.
    public var description: String { advice.isEmpty ? context : "\(context); \(advice)" }
}
