// SPDX-License-Identifier: Apache-2.0

/// The kernel's answers that one evaluation rests upon, in the order they were asked.
///
/// It is everything an evaluation depends on: written down, it can be evaluated again anywhere.
package struct Snapshot: Sendable, Equatable {
    /// One question with its answer.
    package typealias Entry = AnswerTable.Entry

    private var table = AnswerTable()

    package init() {}

    /// All entries, oldest first.
    package var entries: [Entry] { table.entries }

    /// The answer to `question`, where it was asked.
    package subscript(question: KernelQuestion) -> KernelAnswer? { table[question] }

    /// Adds an answer; one that is there already stays.
    package mutating func add(_ question: KernelQuestion, _ answer: KernelAnswer) {
        if !table.contains(question) { append(question, answer) }
    }

    /// Adds an answer to a question that has none yet.
    package mutating func append(_ question: KernelQuestion, _ answer: KernelAnswer) {
        table.append(question, answer)
    }

    /// Hands the answers over and is empty afterwards, so that whoever has them now need not copy them to add some.
    package mutating func moveOut() -> Snapshot {
        defer { self = Snapshot() }
        return self
    }

    package static func == (a: Snapshot, b: Snapshot) -> Bool { a.entries == b.entries }
}
