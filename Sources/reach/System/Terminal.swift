// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The properties of the terminal or pipe that gets text for people.
struct Terminal: Sendable, Hashable {
    /// The values of `--color`.
    enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

    /// Whether it is a terminal (isatty(3)).
    var isTerminal: Bool
    /// The columns; nil where unknown.
    var columns: Int?
    /// The relevant environment variables.
    var environment: [String: String]

    init(isTerminal: Bool, columns: Int? = nil, environment: [String: String] = [:]) {
        self.isTerminal = isTerminal
        self.columns = columns
        self.environment = environment
    }

    /// The terminal behind a descriptor.
    init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        environment = [:]
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "TERM", "LC_ALL", "LC_CTYPE", "LANG"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        var size = winsize()
        if isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            columns = Int(size.ws_col)
        }
    }

    /// The style of text for this terminal.
    func style(_ choice: ColorChoice) -> Style {
        Style(
            hasColor: hasColor(choice), isUnicode: isUnicode, hasMarks: !isDumb,
            width: isTerminal ? max(20, columns ?? 80) : nil)
    }

    /// A terminal that cannot move its cursor: on paper, in an editor, or spoken.
    var isDumb: Bool { environment["TERM"] == "dumb" }

    /// `--color` first, then NO_COLOR (no-color.org: any value but an empty one), CLICOLOR_FORCE and TERM.
    private func hasColor(_ choice: ColorChoice) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            if isSet("NO_COLOR") { return false }
            if isSet("CLICOLOR_FORCE"), environment["CLICOLOR_FORCE"] != "0" { return true }
            return isTerminal && !isDumb
        }
    }

    /// A serial console without a locale shows more than ASCII as garbage.
    private var isUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] where isSet(name) {
            // "de_DE.UTF-8@euro", or "UTF-8" alone, as macOS hands it on by ssh(1).
            let codeset = environment[name]?.lowercased().split(separator: ".").last ?? ""
            return codeset.hasPrefix("utf-8") || codeset.hasPrefix("utf8")
        }
        return false
    }

    private func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
}
