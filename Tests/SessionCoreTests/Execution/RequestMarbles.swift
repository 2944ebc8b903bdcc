// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Drives the machine of a request along a line of marbles, and draws its actions or its states below.
///
/// In: `s` the request may be sent, `S` it may not for the network's sake, `h` a head comes, `q` something is
/// asked, `a` it is answered, `l` an answer to the question before comes late, `d` it is decided where the
/// content goes, `e` the exchange ends whole, `f` with a redirect, `c` with a challenge, `E` with a lost
/// connection, `R` before it could connect on a new path, `b` a retrier wants a delay, `t` its timer fires,
/// `u` and `U` the user suspends and resumes, `p` and `P` the network goes and comes, `x` the task is
/// stopped, `-` nothing.
///
/// Actions: `>` send, `0`…`4` prepare an attempt, the request, the redirect, a new body, a range, `n` wait
/// for the network, `|` pause, `:` unpause, `x` give up the exchange, `!` give it up and fail, `=` resume
/// the content, `*` end the exchange, `k` cancel the timer, `r` reconnect, `f` follow the redirect, `c`
/// answer the challenge, `F` fail the try, `.` use the response, `-` nothing; of an answer: `a` counts, `~`
/// late.
///
/// States: `p` preparing, `w` waiting, `s` sending, `r` receiving, `d` deciding, `D` deciding about a whole
/// response, `a` asking, `b` backing off, `.` finished; a capital `P` `W` `A` `B` while parked.
struct RequestMarbles {
    var progress = ExchangeProgress(Interruption(isIdempotent: true))
    private(set) var states = ""

    mutating func actions(_ line: String) -> String {
        var machine = RequestStateMachine()
        var questions: [RequestStateMachine.QuestionID] = []
        var drawn = ""
        states = ""
        for marble in line {
            drawn.append(happen(marble, &machine, &questions))
            states.append(Self.letter(machine.state, isParked: machine.isParked))
        }
        return drawn
    }

    private func happen(
        _ marble: Character, _ machine: inout RequestStateMachine,
        _ questions: inout [RequestStateMachine.QuestionID]
    ) -> Character {
        switch marble {
        case "s", "S": return Self.letter(machine.ready(isBlocked: marble == "S"))
        case "h": machine.receivedHead()
        case "q": questions.append(machine.asked())
        case "a": return machine.answered(questions[questions.count - 1]) ? "a" : "~"
        case "l": return machine.answered(questions[questions.count - 2]) ? "a" : "~"
        case "d": return Self.letter(machine.decided())
        case "e", "f", "c", "E", "R": return Self.letter(machine.ended(Self.end(marble)))
        case "b": machine.backsOff()
        case "t": return Self.letter(machine.timerFired())
        case "u": return Self.letter(machine.suspended())
        case "U": return Self.letter(machine.resumed())
        case "p": return Self.letter(machine.parked(progress))
        case "P": return Self.letter(machine.unparked())
        case "x": return machine.finished() ? "x" : "-"
        default: break
        }
        return "-"
    }

    private static func end(_ marble: Character) -> ExchangeEnd {
        var end = ExchangeEnd()
        switch marble {
        case "f": end.hasRedirect = true
        case "c": end.isChallenge = true
        case "E": end.failure = .networkConnectionLost
        case "R":
            end.failure = .cannotConnectToHost
            end.mayReconnect = true
        default: break
        }
        return end
    }

    private static func letter(_ action: RequestStateMachine.Action) -> Character {
        switch action {
        case .nothing: "-"
        case .prepare(.attempt): "0"
        case .prepare(.request): "1"
        case .prepare(.redirect): "2"
        case .prepare(.newBody): "3"
        case .prepare(.range): "4"
        case .send: ">"
        case .park: "n"
        case .pause: "|"
        case .unpause: ":"
        case .abandon: "x"
        case .abandonAndFail: "!"
        case .resumeContent: "="
        case .endExchange: "*"
        case .cancelTimer: "k"
        case .reconnect: "r"
        case .follow(.followRedirect): "f"
        case .follow(.answerChallenge): "c"
        case .follow(.failTry): "F"
        case .follow(.useResponse): "."
        default: "?"
        }
    }

    private static func letter(_ state: RequestStateMachine.State, isParked: Bool) -> Character {
        let letter: Character =
            switch state {
            case .preparing: "p"
            case .waiting: "w"
            case .sending: "s"
            case .receiving: "r"
            case .deciding(false): "d"
            case .deciding(true): "D"
            case .asking: "a"
            case .backingOff: "b"
            case .finished: "."
            }
        return isParked ? Character(letter.uppercased()) : letter
    }
}
