// SPDX-License-Identifier: Apache-2.0

/// What is known of an exchange that has ended.
package struct ExchangeEnd: Sendable {
    /// What the cache says of a response that it had asked to be confirmed.
    package enum Validation: Sendable, Equatable {
        case none
        /// The stored response is the answer.
        case useStored
        /// The stored response is of no use, and neither is this one.
        case reload
    }

    /// Nil where the response is complete.
    package var failure: SessionError.Code?
    package var validation = Validation.none
    /// The server has said that the connection does not lead to it (421).
    package var isMisdirected = false
    /// The response asks for another request.
    package var hasRedirect = false
    /// The response asks for credentials that something may provide.
    package var isChallenge = false
    /// A proxy's refusal of a tunnel asks for credentials that something may provide.
    package var isTunnelChallenge = false
    /// The failure may be the path's, which is about to change.
    package var mayReconnect = false
    /// The handshake waits for a delegate's decision about the server.
    package var isServerUndecided = false

    package init(failure: SessionError.Code? = nil) { self.failure = failure }

    /// What follows an exchange.
    package enum FollowUp: Sendable, Equatable {
        case useStoredResponse
        /// Send the request without the cache's conditions.
        case reload
        /// Send the request over a connection of its own.
        case sendElsewhere
        case followRedirect
        case answerChallenge
        case answerTunnel
        case askAboutServer
        /// Do with the response what is left to do.
        case useResponse
        /// End the try with its failure.
        case failTry
    }

    /// What follows; nil for the same request on a path that is about to work.
    var followUp: FollowUp? {
        switch validation {
        case .useStored: return .useStoredResponse
        case .reload: return .reload
        case .none: break
        }
        if isMisdirected { return .sendElsewhere }
        if failure.map(Self.isAboutContent) ?? true {
            if hasRedirect { return .followRedirect }
            if isChallenge { return .answerChallenge }
        }
        guard failure != nil else { return .useResponse }
        if isTunnelChallenge { return .answerTunnel }
        if mayReconnect { return nil }
        return isServerUndecided ? .askAboutServer : .failTry
    }
}

extension ExchangeEnd {
    /// Whether a failure after the head spoils the content alone: too long, broken, or cut off.
    ///
    /// A redirect or a challenge does without; what follows goes over another connection.
    private static func isAboutContent(_ failure: SessionError.Code) -> Bool {
        switch failure {
        case .dataLengthExceedsMaximum, .cannotDecodeRawData, .networkConnectionLost, .badServerResponse: true
        default: false
        }
    }
}

/// How far an exchange was when it was interrupted, and what sending it again takes.
package struct ExchangeProgress: Sendable {
    package var interruption: Interruption
    /// The response had asked for another request.
    package var hasRedirect = false
    /// The body was read in part, and cannot be read again.
    package var isBodySpent = false

    package init(_ interruption: Interruption) { self.interruption = interruption }

    package var verdict: InterruptionVerdict { InterruptionRules.verdict(interruption) }

    /// What is sent when there is a connection again; nil where nothing may be.
    package var nextStep: RequestStateMachine.Step? {
        switch verdict {
        case .outcomeUnknown, .cutOff: nil
        case .continueByRange: .range
        case .restart: hasRedirect ? .redirect : isBodySpent ? .newBody : .request
        }
    }

    /// The same after a handshake that failed: the server has received nothing, though a proxy may have been
    /// asked for a tunnel.
    var stepAfterHandshake: RequestStateMachine.Step? {
        var unsent = self
        unsent.interruption.hasBegun = false
        return unsent.nextStep
    }
}

/// What is known of a try that has failed.
package struct FailedTry: Sendable {
    /// The network must not be used now.
    package var isBlocked = false
    /// A wrong clock explains the failure, and is waited for until it is set.
    package var isForClock = false
    /// What is sent when the network may be used again, or the clock was set; nil where the failure is the
    /// end.
    package var stepWhenReachable: RequestStateMachine.Step?
    /// An interceptor may want another try.
    package var asksRetriers = false

    package init() {}

    /// What is known after a failure.
    ///
    /// - Parameters:
    ///   - step: what has failed, where no exchange had begun.
    ///   - exchange: how far the exchange was; nil where none had begun.
    package init(
        after code: SessionError.Code, isBlocked: Bool, isForClock: Bool, isBodyRewindable: Bool,
        isIdempotent: Bool, _ step: RequestStateMachine.Step,
        _ exchange: @autoclosure () -> ExchangeProgress?
    ) {
        self.isBlocked = isBlocked
        self.isForClock = isForClock
        if isForClock {
            stepWhenReachable = exchange().map { $0.stepAfterHandshake } ?? .request
        } else if isBlocked,
            InterruptionRules.canRepeatAfterFailure(
                code: code, isIdempotent: isIdempotent, isBodyRewindable: isBodyRewindable)
        {
            stepWhenReachable = exchange().map { $0.nextStep } ?? step
        }
    }
}

/// A complete response, and what is left to do with it.
package struct FinalResponse: Sendable {
    /// What is done with it, in this order.
    package enum Stage: Int, Sendable { case rest, validation, serialization, storing }

    /// What is done next.
    package enum Action: Sendable, Equatable {
        case askForRest
        case failForRest
        case askRetriers
        case serialize
        case store
        /// Finish the task with it.
        case finish
    }

    /// What the rules for partial content say of the end.
    package enum Rest: Sendable, Equatable {
        case complete
        /// The server has sent a part of what was asked for.
        case missing
        case invalid
    }

    package var rest = Rest.complete
    /// Its status is not acceptable, and an interceptor may want another try.
    package var isRefusal = false
    /// An interceptor wants to know whether the content can be read.
    package var isSerialized = false
    /// A cache may store it.
    package var isCached = false

    package init() {}

    /// What is done after a stage; nil for the beginning.
    package func action(after stage: Stage? = nil) -> Action {
        let done = stage?.rawValue ?? -1
        if done < Stage.rest.rawValue {
            switch rest {
            case .complete: break
            case .missing: return .askForRest
            case .invalid: return .failForRest
            }
        }
        // Retriers are asked once: about the status, or about content that cannot be read.
        if done < Stage.validation.rawValue {
            if isRefusal { return .askRetriers }
            if isSerialized { return .serialize }
        }
        return done < Stage.storing.rawValue && isCached ? .store : .finish
    }
}

/// Decides what follows a 421 (Misdirected Request): the request once more, over a connection of its own.
///
/// It was not carried out, so its method does not matter (RFC 9110 §15.5.20); a second 421 is the response.
package struct Misdirection: Sendable {
    /// Whether the current response is a 421 after which the request is sent again.
    package private(set) var isPending = false
    /// Whether the next exchange may use no existing connection.
    package private(set) var needsNewConnection = false

    package init() {}

    /// The server has answered 421; true if the request is sent again, which takes a repeatable body.
    package mutating func received(canRepeat: Bool) -> Bool {
        guard canRepeat, !needsNewConnection else { return false }
        isPending = true
        return true
    }

    /// The misdirected exchange is over: the next one gets a new connection.
    package mutating func exchangeEnded() {
        isPending = false
        needsNewConnection = true
    }

    package mutating func exchangeBegins() { isPending = false }
}
