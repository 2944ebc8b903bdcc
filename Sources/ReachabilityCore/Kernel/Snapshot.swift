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
    // The questions' digests beside the entries: an evaluation has about ten, and walking over numbers is cheaper than
    // comparing or hashing questions. A survey of many links has thousands, which are found by hashing.
    private var digests: [UInt64] = []
    private var positions: [KernelQuestion: Int] = [:]
    private static let walkLimit = 16

    package init() {}

    /// The answer to `question`, where it was asked.
    package subscript(question: KernelQuestion) -> KernelAnswer? {
        position(of: question).map { entries[$0].answer }
    }

    private func position(of question: KernelQuestion) -> Int? {
        if entries.count > Self.walkLimit { return positions[question] }
        let digest = question.digest
        for position in digests.indices
        where digests[position] == digest && entries[position].question == question { return position }
        return nil
    }

    /// Adds an answer; one that is there already stays.
    package mutating func add(_ question: KernelQuestion, _ answer: KernelAnswer) {
        guard position(of: question) == nil else { return }
        entries.append(Entry(question: question, answer: answer))
        digests.append(question.digest)
        if entries.count == Self.walkLimit + 1 {
            for (position, entry) in entries.enumerated() { positions[entry.question] = position }
        } else if entries.count > Self.walkLimit {
            positions[question] = entries.count - 1
        }
    }

    package static func == (a: Snapshot, b: Snapshot) -> Bool { a.entries == b.entries }
}
