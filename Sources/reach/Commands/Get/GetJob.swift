// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import SessionManager

/// One content that `reach get` fetches, and where it goes.
struct GetJob {
    var url: URL
    var mirrors: [URL] = []
    /// The name of the file, or of what is written to; nil for standard output.
    var name: String?
    var checksum: [UInt8]?

    /// Where the content goes; prints a failure and throws.
    ///
    /// - Parameter limit: when waiting for a pipe's reader is given up; nil for never.
    func target(until limit: MonotonicInstant?) throws(ExitCode) -> GetTarget {
        guard let name else { return .stream(.output, name: nil) }
        return try GetTarget(
            file: name, isChecked: checksum != nil, hasMirrors: !mirrors.isEmpty, until: limit)
    }

    /// Refuses that two write to one file, also to one that the other keeps beside its own.
    static func check(_ targets: [GetTarget]) throws(ExitCode) {
        var names: Set<String> = []
        for target in targets {
            guard case .file(let files) = target else { continue }
            for path in [files.path, files.part, files.recordPath]
            where !names.insert(key(of: path)).inserted {
                complain(
                    "two URLs would be saved as \(path); give each a name of its own with -o, or out= in a list"
                )
                throw .usage
            }
        }
    }

    /// The folder's number and the name in it: the same however the path is written.
    private static func key(of path: String) -> String {
        let end = path.lastIndex(of: "/")
        var folder = stat()
        guard stat(end.map { String(path[...$0]) } ?? ".", &folder) == 0 else { return path }
        return
            "\(folder.st_dev):\(folder.st_ino)/\(path[(end.map { path.index(after: $0) } ?? path.startIndex)...])"
    }
}

extension Get {
    /// What the command line says is fetched; all that is wrong with it is an error of its own.
    func jobs() throws -> [GetJob] {
        var jobs: [GetJob] = []
        for (index, url) in urls.enumerated() {
            var job = GetJob(url: url, mirrors: many.mirrors, checksum: content.checksum)
            if index < content.outputs.count {
                let name = content.outputs[index]
                job.name = name == "-" ? nil : path(name)
            } else if content.usesRemoteName || many.folder != nil {
                job.name = path(try ownName(url))
            }
            jobs.append(job)
        }
        return jobs
    }

    /// What an input file says is fetched.
    func jobs(of entries: [GetList.Entry], in list: String) throws(ExitCode) -> [GetJob] {
        var jobs: [GetJob] = []
        for entry in entries {
            do {
                for url in [entry.url] + entry.mirrors { try check(url) }
                let name = try entry.name ?? ownName(entry.url)
                jobs.append(
                    GetJob(url: entry.url, mirrors: entry.mirrors, name: path(name), checksum: entry.checksum)
                )
            } catch {
                let name = list == "-" ? "standard input" : list
                complain("\(name):\(entry.line): \((error as? ValidationError)?.message ?? "\(error)")")
                throw .usage
            }
        }
        return jobs
    }

    /// The last part of the URL's path, as a plain file even where it is like an option.
    private func ownName(_ url: URL) throws -> String {
        let name = try content.ownName(url)
        return name.hasPrefix("-") ? "./\(name)" : name
    }

    private func path(_ name: String) -> String {
        guard let folder = many.folder, !name.hasPrefix("/") else { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}
