// SPDX-License-Identifier: Apache-2.0

/// Why an outbox operation failed.
public struct OutboxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; more may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as text, for programs.
        public let rawValue: String
        /// The code with this word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file or its folder cannot be used.
        public static let storage = Code(rawValue: "storage")
        /// The disk is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// SQLite is not installed.
        public static let missingLibrary = Code(rawValue: "missingLibrary")
        /// The outbox has no space for the request.
        public static let full = Code(rawValue: "full")
        /// The request cannot be stored or sent as it is.
        public static let badRequest = Code(rawValue: "badRequest")
        /// Another request with this key is stored.
        public static let keyTaken = Code(rawValue: "keyTaken")
        /// Requests with this name wait in another lane.
        public static let nameTaken = Code(rawValue: "nameTaken")
        /// Another process delivers.
        public static let deliveredElsewhere = Code(rawValue: "deliveredElsewhere")
        /// The outbox has been closed.
        public static let closed = Code(rawValue: "closed")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// What to try; may be empty.
    public let advice: String

    /// An error.
    public init(_ code: Code, _ message: String, advice: String = "") {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// What happened and what to try, in one line.
    public var description: String { advice.isEmpty ? message : "\(message); \(advice)" }
}
