// SPDX-License-Identifier: Apache-2.0

/// What the parser of the arguments says of wrong usage, as wide as the terminal like all other text.
///
/// Only its help knows the terminal's width; and what was typed may hold bytes that steer it.
enum UsageText {
    /// The message, ending with a line feed; what goes on below stands under its beginning.
    static func text(_ message: String, _ style: Style) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            style.line([(String(line), .plain)], indent: head(of: line)) + "\n"
        }.joined()
    }

    /// "Error: ", "Usage: ", or the spaces in front.
    private static func head(of line: Substring) -> Int {
        for word in ["Error:", "Usage:", "Help:"] where line.hasPrefix(word) {
            return word.count + line.dropFirst(word.count).prefix { $0 == " " }.count
        }
        return line.prefix { $0 == " " }.count
    }
}
