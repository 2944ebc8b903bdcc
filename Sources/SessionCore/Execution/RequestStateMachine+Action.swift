// SPDX-License-Identifier: Apache-2.0

extension RequestStateMachine {
    /// What the executor does.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Determine what is sent.
        case prepare(Step)
        /// Begin the exchange.
        case send
        /// Report that the network is waited for, before anything is sent.
        case park
        /// The same after a failure, which is the outcome if the wait is in vain.
        case parkAfterFailure(Step)
        /// Stop the bytes of the exchange, or let them flow again.
        case pause, unpause
        /// End the exchange; its request is sent again later, or the rest of its content is asked for.
        case abandon(Step)
        /// End the exchange, and fail: the outcome is unknown, or the answer cannot be had whole.
        case abandonAndFail(InterruptionVerdict)
        /// Let the content flow to where it was decided to go.
        case resumeContent
        /// End the exchange once more: the response was whole before it was decided about.
        case endExchange
        case cancelTimer
        /// Set the timer of a reconnection.
        case reconnect
        /// Do what the end of the exchange asks for.
        case follow(ExchangeEnd.FollowUp)
        case askRetriers
        /// Finish the task with its failure.
        case finish
    }

    /// What the next exchange sends.
    package enum Step: Sendable, Equatable {
        /// The original request, from the adapters on.
        case attempt
        /// The current request, for the first time or again.
        case request
        /// The request that the last response asks for.
        case redirect
        /// The current request with another body: its own was read, and cannot be read twice.
        case newBody
        /// A request for the bytes that are missing.
        case range
    }

    /// What a timer delays.
    package enum Delay: Sendable, Equatable {
        /// The next try, as a retrier wants it.
        case retry
        /// The same request, on a path that is about to work.
        case reconnection
    }

    /// What keeps a request from proceeding.
    package struct Holds: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let user = Holds(rawValue: 1)
        /// The request is parked.
        package static let network = Holds(rawValue: 2)
        /// The exchange under way waits for a connection of its host.
        package static let connection = Holds(rawValue: 4)
        /// With ``network``: it waits until the clock is set.
        package static let clock = Holds(rawValue: 8)
        /// With ``network``: it waits for the internet, since no uplink's line works.
        package static let internet = Holds(rawValue: 16)
    }
}
