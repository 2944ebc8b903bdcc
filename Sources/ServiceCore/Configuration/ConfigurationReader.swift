// SPDX-License-Identifier: Apache-2.0

/// A problem of a configuration: its source, the key, and the allowed values.
package struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file with the line, the option, or the variable.
    package var source: String
    /// The key; nil if the source names it already, or there is none.
    package var key: String?
    package var problem: String

    /// One line without control characters: keys and values come from the file.
    package var description: String {
        let parts = [source] + [key].compactMap(\.self) + [problem]
        return SafeText.clean(parts.joined(separator: ": "), unicode: true)
    }
}

/// Builds a configuration from the defaults, the file, the environment, and the command line, in this order.
///
/// Continues after a problem, so that all are reported at once.
package struct ConfigurationReader {
    package private(set) var configuration = ServiceConfiguration()
    package private(set) var problems: [ConfigurationProblem] = []
    /// The file and line, variable or option that has last set each key that is not at its default.
    package private(set) var sources: [String: String] = [:]

    package init() {}

    /// Reads a file.
    package mutating func read(file: String, _ bytes: [UInt8]) {
        let entries: [TOMLEntry]
        do throws(TOMLError) { entries = try TOMLReader.entries(in: bytes) } catch {
            return fail(source: "\(file):\(error.line)", error.problem)
        }
        for entry in entries {
            let source = "\(file):\(entry.line)"
            guard let option = ServiceOption.named(entry.key) else {
                fail(source: source, key: entry.key, Self.unknown(entry.key))
                continue
            }
            set(option, entry.value, source, key: entry.key)
        }
    }

    /// Reads the variables that name options.
    package mutating func read(environment: [String: String]) {
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(ServiceOption.variablePrefix) {
            guard let option = ServiceOption.all.first(where: { $0.variable == name }) else {
                let nearest = NearestWord.to(
                    name.lowercased(), in: ServiceOption.all.map { $0.variable.lowercased() })
                let advice = nearest.map { "; did you mean \($0.uppercased())?" } ?? ""
                fail(source: name, "unknown variable" + advice)
                continue
            }
            set(option, option.kind.value(plain: text), name, key: nil)
        }
    }

    /// Reads options of the command line: `--hooks-timeout 5s` or `--hooks-timeout=5s`.
    package mutating func read(arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let flag = String(word.prefix { $0 != "=" })
            guard let option = ServiceOption.all.first(where: { $0.flag == flag || $0.longFlag == flag })
            else {
                let nearest = NearestWord.to(flag, in: ServiceOption.all.map(\.flag))
                let advice = nearest.map { "; did you mean \($0)?" } ?? "; see reach serve --help"
                fail(source: word, "unknown option" + advice)
                // The next word is the option's value and not another mistake.
                if flag == word, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
                continue
            }
            if flag != word {
                set(option, option.kind.value(plain: String(word.dropFirst(flag.count + 1))), flag, key: nil)
            } else if let text = rest.popFirst() {
                set(option, option.kind.value(plain: text), flag, key: nil)
            } else {
                fail(source: flag, "the value is missing; allowed is \(option.kind.allowed)")
            }
        }
    }

    /// Records a problem with the input.
    package mutating func fail(source: String, key: String? = nil, _ problem: String) {
        problems.append(ConfigurationProblem(source: source, key: key, problem: problem))
    }

    /// Checks rules about more than one key; called once, after all input was read.
    package mutating func finish() {
        if let listen = configuration.metrics.listen, !listen.isLoopback, !configuration.metrics.allowsRemote
        {
            fail(
                source: sources["metrics.listen"] ?? "", key: "metrics.listen",
                "\(listen) can be reached by other machines; set metrics.allow-remote = true where "
                    + "that is meant, or listen at 127.0.0.1:\(listen.port)")
        }
        if (1..<100).contains(configuration.probe.status) {
            fail(
                source: sources["probe.status"] ?? "", key: "probe.status",
                "\(configuration.probe.status) is no status; allowed is 100 to 599, or 0 for 200 to 299")
        }
        if !configuration.metrics.file.isEmpty, !configuration.metrics.file.hasSuffix(".prom") {
            fail(
                source: sources["metrics.file"] ?? "", key: "metrics.file",
                "\"\(configuration.metrics.file)\" has to end with .prom, or no collector reads it")
        }
        checkLanes("outbox.batch", configuration.outbox.batch.compactMap { BatchSetting($0)?.lane })
        checkLanes("outbox.budget", configuration.outbox.budget.compactMap { BudgetSetting($0)?.lane })
    }

    /// Reports the lanes of which a list speaks more than once: only one of their rules would hold.
    private mutating func checkLanes(_ key: String, _ lanes: [String]) {
        var known: Set<String> = []
        let repeated = lanes.filter { !known.insert($0).inserted }
        for lane in Set(repeated).sorted() {
            fail(
                source: sources[key] ?? "", key: key,
                "lane \"\(lane)\" is in the list twice; write all of it into one text")
        }
    }

    private mutating func set(_ option: ServiceOption, _ value: TOMLValue, _ source: String, key: String?) {
        if let allowed = option.apply(value, to: &configuration) {
            let culprit = option.kind.culprit(in: value) ?? value
            fail(source: source, key: key, "\(culprit.tomlText) is not allowed; allowed is \(allowed)")
        } else {
            sources[option.key] = source
        }
    }

    private static func unknown(_ key: String) -> String {
        let keys = ServiceOption.all.map(\.key)
        if let nearest = NearestWord.to(key, in: keys) { return "unknown key; did you mean \(nearest)?" }
        // The right word below the wrong table is the other frequent mistake.
        let last = key.split(separator: ".").last.map(String.init) ?? key
        if let same = keys.first(where: { $0.hasSuffix("." + last) || $0 == last }) {
            return "unknown key; did you mean \(same)?"
        }
        let table = key.split(separator: ".").dropLast().joined(separator: ".")
        let siblings = keys.filter { $0.hasPrefix(table + ".") }.map { $0.dropFirst(table.count + 1) }
        if !table.isEmpty, !siblings.isEmpty {
            return "unknown key; [\(table)] has " + siblings.joined(separator: ", ")
        }
        return "unknown key; 'reach serve --sample' prints all there are"
    }
}

/// Finds the intended word for a misspelt one.
package enum NearestWord {
    /// The candidate with the fewest edits, if these are at most a third of its letters.
    package static func to(_ word: String, in candidates: some Sequence<String>) -> String? {
        let written = Array(word.lowercased().utf8.prefix(128))
        var best: (word: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(written, Array(candidate.utf8))
            guard distance <= max(1, candidate.utf8.count / 3), distance < best?.distance ?? .max
            else { continue }
            best = (candidate, distance)
        }
        return best?.word
    }

    /// The number of letters to insert, delete, replace, or swap with their neighbour.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...b.count)
        for row in a.indices {
            var next = [row + 1]
            for column in b.indices {
                let isSame = a[row] == b[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            before = last
            last = next
        }
        return last[b.count]
    }
}
