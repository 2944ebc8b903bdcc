// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

/// Which entries are sent together after refusals, as a line of letters: each is an entry, capital ones are
/// refused by the server.
///
/// What comes out is a batch a word: `!` refused, `†` a dead letter.
@Suite struct BatchStateTests {
    /// - Parameter isKilled: whether the process ends after a batch was stored, and after its answer was.
    private func run(_ line: String, isKilled: Bool = false) -> String {
        var waiting = line.indices.map {
            OutboxID(rawValue: Int64(line.distance(from: line.startIndex, to: $0)))
        }
        let letters = Array(line)
        var state = BatchState()
        var words: [String] = []
        func reload() {
            if isKilled { state = BatchState(text: state.text, suspects: state.suspects) }
        }
        while !waiting.isEmpty, words.count < 100 {
            let batch = state.next(of: waiting) ?? waiting
            state.willSend(batch, of: waiting)
            reload()
            if isKilled {
                #expect(state.next(of: waiting) == batch)
                state.willSend(batch, of: waiting)
            }
            let text = String(batch.map { letters[Int($0.rawValue)] })
            let isRefused = text.contains { $0.isUppercase }
            if !isRefused {
                words.append(text)
                waiting.removeAll { batch.contains($0) }
                state.settled(batch)
            } else if batch.count == 1 {
                words.append(text + "†")
                waiting.removeAll { batch.contains($0) }
                state.found(batch[0])
            } else {
                words.append(text + "!")
                state.halved(batch, searches: true)
            }
            reload()
        }
        return words.joined(separator: " ")
    }

    @Test(
        "OBX-206 The bad entry of a refused batch is found by halving, also by processes that are killed",
        arguments: [
            ("abcd", "abcd"),
            ("abcdXfgh", "abcdXfgh! abcd Xf! X† fgh"),
            ("Xbcdefgh", "Xbcdefgh! Xbcd! Xb! X† bcdefgh"),
            ("abcdefgX", "abcdefgX! abcd ef g X†"),
            ("aXcXe", "aXcXe! aX! a X† cXe! c X† e"),
            ("XYZ", "XYZ! X† YZ! Y† Z†"),
            ("X", "X†"),
        ])
    func search(line: String, expected: String) {
        #expect(run(line) == expected)
        #expect(run(line, isKilled: true) == expected)
    }

    @Test("OBX-207 What was on its way is sent again as it was, although more waits and some has gone")
    func again() {
        func ids(_ numbers: [Int64]) -> [OutboxID] { numbers.map { OutboxID(rawValue: $0) } }
        var state = BatchState()
        #expect(state.next(of: ids([3, 5, 9])) == nil)
        state.willSend(ids([3, 5, 9]), of: ids([3, 5, 9]))
        #expect(state.text == "3 2 4")
        state = BatchState(text: state.text, suspects: nil)
        #expect(state.next(of: ids([3, 5, 9, 11, 12])) == ids([3, 5, 9]))
        #expect(state.next(of: ids([3, 9, 11])) == ids([3, 9]))
        #expect(state.next(of: ids([11])) == nil)
        // A dead letter that waits again goes before it, and alone: the batch stays as it was.
        #expect(state.next(of: ids([1, 3, 5, 9])) == ids([1]))
        state.willSend(ids([1]), of: ids([1, 3, 5, 9]))
        state.found(OutboxID(rawValue: 1))
        #expect(state.members == ids([3, 5, 9]))
        state.settled(ids([3, 5, 9]))
        #expect(state.isEmpty)
    }

    @Test("OBX-208 One that is too large is halved without a search, and the rest is free to be joined anew")
    func tooLarge() {
        func ids(_ numbers: [Int64]) -> [OutboxID] { numbers.map { OutboxID(rawValue: $0) } }
        var state = BatchState()
        state.willSend(ids([1, 2, 3, 4, 5]), of: ids([1, 2, 3, 4, 5]))
        state.halved(ids([1, 2, 3, 4, 5]), searches: false)
        #expect(state.next(of: ids([1, 2, 3, 4, 5])) == ids([1, 2]) && state.suspects == nil)
        state.settled(ids([1, 2]))
        #expect(state.next(of: ids([3, 4, 5])) == nil && state.isEmpty)
    }

    @Test("OBX-209 A search ends where all that it looked at has gone meanwhile")
    func gone() {
        func ids(_ numbers: [Int64]) -> [OutboxID] { numbers.map { OutboxID(rawValue: $0) } }
        var state = BatchState(members: ids([1, 2]), suspects: OutboxID(rawValue: 4))
        #expect(state.next(of: ids([7, 8])) == nil)
        state.willSend([], of: ids([7, 8]))
        #expect(state.isEmpty)
    }
}
