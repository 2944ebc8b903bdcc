// SPDX-License-Identifier: Apache-2.0

/// The kernel's answers that one evaluation rests upon, in the order they were asked.
///
/// It is everything an evaluation depends on: written down, it can be evaluated again anywhere.
package struct Snapshot: Sendable, Equatable {
    /// One question with its answer.
    package struct Entry: Sendable, Equatable {
        package let question: KernelQuestion
        package let answer: KernelAnswer
    }

    /// All entries, oldest first.
    package private(set) var entries: [Entry] = []

    package init() {}

    // A snapshot holds about ten entries: walking them is cheaper than hashing the questions.
    /// The answer to `question`, where it was asked.
    package subscript(question: KernelQuestion) -> KernelAnswer? {
        for entry in entries where entry.question == question { return entry.answer }
        return nil
    }

    /// Adds an answer; one that is there already stays.
    package mutating func add(_ question: KernelQuestion, _ answer: KernelAnswer) {
        guard self[question] == nil else { return }
        entries.append(Entry(question: question, answer: answer))
    }
}
