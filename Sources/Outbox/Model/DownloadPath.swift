// SPDX-License-Identifier: Apache-2.0

/// A path below one of the folders into which files are fetched, taken apart.
///
/// The folder is the administrator's word; what is below it comes from callers, and is opened name by name.
struct DownloadPath: Sendable, Equatable {
    /// The permitted folder.
    let root: String
    /// The folders below it, from the outermost on.
    let folders: [String]
    /// The file's own name.
    let name: String

    /// How the names of files begin that are being fetched.
    static let partPrefix = ".reach-fetch-"
    /// The longest path: PATH_MAX with its NUL (path_resolution(7)).
    private static let longestPath = 4095
    /// NAME_MAX.
    private static let longestName = 255

    /// - Throws: ``OutboxError/Code/badRequest`` where nothing may be put there.
    init(_ path: String, below permitted: [String]) throws(OutboxError) {
        guard path.hasPrefix("/") else {
            throw Self.refusal("\(Self.quoted(path)) is no absolute path", "begin it with /")
        }
        guard path.utf8.count <= Self.longestPath,
            !path.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw Self.refusal(
                "the path is longer than \(Self.longestPath) bytes, or has control characters",
                "choose another")
        }
        var names = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard !names.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw Self.refusal(
                "\(path) has an empty name, . or .. in it", "write the path of the file out, without them")
        }
        guard let name = names.popLast(), names.allSatisfy({ $0.utf8.count <= Self.longestName }),
            name.utf8.count <= Self.longestName, !name.hasPrefix(Self.partPrefix)
        else {
            throw Self.refusal(
                "\(path) has a name that is too long, or one that the outbox gives to its own files",
                "choose another")
        }
        let roots = permitted.compactMap { Self.root($0) }
        let longest = roots.filter { names.starts(with: $0.names) }.max { $0.names.count < $1.names.count }
        guard let root = longest else {
            throw Self.refusal(
                permitted.isEmpty
                    ? "this outbox fetches no files" : "\(path) is in none of the folders for fetched files",
                permitted.isEmpty
                    ? "name a folder for them in its limits"
                    : "choose a path below \(permitted.joined(separator: ", ")), or add its folder to outbox.fetch.folders"
            )
        }
        self.root = root.path
        folders = Array(names.dropFirst(root.names.count))
        self.name = name
    }

    /// The whole path.
    var text: String { ([root == "/" ? "" : root] + folders + [name]).joined(separator: "/") }

    /// A permitted folder and its names; nil for what is no absolute path.
    private static func root(_ folder: String) -> (path: String, names: [String])? {
        guard folder.hasPrefix("/") else { return nil }
        let names = folder.split(separator: "/").map(String.init).filter { $0 != "." }
        guard !names.contains("..") else { return nil }
        return ("/" + names.joined(separator: "/"), names)
    }

    private static func refusal(_ message: String, _ advice: String) -> OutboxError {
        OutboxError(.badRequest, message, advice: advice)
    }

    private static func quoted(_ path: String) -> String { path.isEmpty ? "an empty text" : path }
}
