// SPDX-License-Identifier: Apache-2.0

// What the machine is told of the network, what it asks, and what it has found.
extension UplinkProbeStateMachine {
    /// A link with a path of its own.
    package struct Uplink: Sendable, Equatable {
        package var name: String
        package var index: Int32
        /// The next router.
        package var gateway: String?
        package var traits: UplinkTraits

        package init(
            _ name: String, index: Int32 = 0, gateway: String? = nil, traits: UplinkTraits = .init()
        ) {
            self.name = name
            self.index = index
            self.gateway = gateway
            self.traits = traits
        }

        /// Whether another one of this name leads to the same network, as far as that is known.
        func isSame(as other: Uplink) -> Bool {
            index == other.index && gateway == other.gateway
        }
    }

    /// The network at an instant.
    package struct Network: Sendable, Equatable {
        /// The uplink of the path in use; nil where its name is not known.
        package var preferred: Uplink?
        /// Whether the preferred uplink stands in for the kernel's choice, which is dead.
        package var isAlternative = false
        /// Whether there is a path in use; also where that is unknown.
        package var isUsable = true
        /// Grows whenever what was found out over the former path is worthless.
        package var generation: UInt64 = 0
        /// Whether the path in use goes through a tunnel.
        package var isTunnel = false
        /// The other uplinks.
        package var others: [Uplink] = []
        /// The uplinks that are asked as others are although their traffic costs.
        package var wanted: Set<String> = []

        package init() {}
    }

    /// What names a question: the uplink's number, and the question's.
    package struct QuestionID: Sendable, Hashable {
        package let uplink: Int
        package let number: Int
    }

    /// A question to the server.
    package struct Question: Sendable, Equatable {
        package let id: QuestionID
        /// The interface to bind to; nil for the kernel's choice.
        package let interface: String?
    }

    /// What is to be done now.
    package struct Step: Sendable, Equatable {
        /// The questions under way of these uplinks are not wanted any more.
        package var abandoned: [Int] = []
        package var questions: [Question] = []
    }

    /// What is known of an uplink.
    package struct Finding: Sendable, Equatable {
        /// Unique in the life of the machine.
        package let number: Int
        /// Nil where its name is not known.
        package let uplink: Uplink?
        package let isPreferred: Bool
        package let known: InternetAnswer
        /// When the state became what it is.
        package let since: Int64
        /// How many answers have counted.
        package let answers: Int
    }
}
