// SPDX-License-Identifier: Apache-2.0

/// Answers by their questions, in the order they were put in.
///
/// An evaluation has about ten: these are found by walking over numbers, which is cheaper than comparing or hashing
/// questions and keeps the code for hashing out of a small program's memory. A survey of many links has thousands,
/// which are found by hashing.
package struct AnswerTable: Sendable {
    /// One question with its answer.
    package struct Entry: Sendable, Equatable {
        package let question: KernelQuestion
        package var answer: KernelAnswer
    }

    /// All entries, oldest first.
    package private(set) var entries: [Entry] = []
    private var digests: [UInt64] = []
    private var positions: [KernelQuestion: Int]?
    private static let walkLimit = 32

    package init() {}

    /// The answer to `question`, where there is one.
    package subscript(question: KernelQuestion) -> KernelAnswer? {
        position(of: question).map { entries[$0].answer }
    }

    /// Whether there is an answer.
    package func contains(_ question: KernelQuestion) -> Bool { position(of: question) != nil }

    /// Puts an answer in the place of the one before, if any.
    package mutating func set(_ question: KernelQuestion, _ answer: KernelAnswer) {
        if let position = position(of: question) {
            entries[position].answer = answer
        } else {
            append(question, answer)
        }
    }

    /// Puts in the answer to a question that has none yet: whoever knows that spares looking for it again.
    package mutating func append(_ question: KernelQuestion, _ answer: KernelAnswer) {
        if entries.isEmpty {
            entries.reserveCapacity(16)
            digests.reserveCapacity(16)
        }
        entries.append(Entry(question: question, answer: answer))
        digests.append(question.digest)
        if positions != nil {
            positions?[question] = entries.count - 1
        } else if entries.count > Self.walkLimit {
            index()
        }
    }

    /// Forgets everything and keeps the memory of a small table.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: positions == nil)
        digests.removeAll(keepingCapacity: positions == nil)
        positions = nil
    }

    /// Forgets some of the answers.
    package mutating func removeAll(where isGone: (Entry) -> Bool) {
        guard entries.contains(where: isGone) else { return }
        entries.removeAll(where: isGone)
        digests = entries.map(\.question.digest)
        if positions != nil { index() }
    }

    private mutating func index() {
        positions =
            entries.count > Self.walkLimit
            ? Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($0.element.question, $0.offset) })
            : nil
    }

    private func position(of question: KernelQuestion) -> Int? {
        if let positions { return positions[question] }
        let digest = question.digest
        return digests.withUnsafeBufferPointer { digests in
            for position in digests.indices
            where digests[position] == digest && entries[position].question == question { return position }
            return nil
        }
    }
}

extension KernelQuestion {
    /// A number that differs for nearly all questions that differ.
    var digest: UInt64 {
        switch self {
        case .route(let lookup):
            (lookup.destination.low ^ lookup.destination.high &* 31) &* 8
                ^ UInt64(truncatingIfNeeded: lookup.interface) << 40 ^ (lookup.wantsEntry ? 1 : 0)
                ^ (lookup.source.map { ($0.low ^ $0.high &* 17) << 8 } ?? 0)
                ^ UInt64(lookup.port) << 24 ^ UInt64(lookup.sourcePort) << 44
        case .link(let index): UInt64(truncatingIfNeeded: index) &* 8 ^ 2
        case .linkNamed: 3
        case .links: 4
        case .ports(let master): UInt64(truncatingIfNeeded: master) &* 8 ^ 5
        case .addresses: 6
        case .rules: 14
        case .wireless(let index): UInt64(truncatingIfNeeded: index) &* 8 ^ 7
        case .device(let index, _): UInt64(truncatingIfNeeded: index) &* 8 ^ 15 << 56
        }
    }
}
