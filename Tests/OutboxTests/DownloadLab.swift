// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionManager
import TestSupport

@testable import Outbox

/// An outbox that may fetch into a folder of its own.
struct DownloadLab: Sendable {
    let lab: DeliveryLab
    /// The permitted folder.
    let folder: ScratchFolder
    /// What the program was told.
    let reports = EventLog<FetchedFile>()

    init() async throws {
        lab = try await DeliveryLab()
        folder = try ScratchFolder("reach-fetched")
    }

    var account: String { lab.account }

    func open(_ change: (inout OutboxConfiguration) -> Void = { _ in }) async throws -> RequestOutbox {
        try await lab.open { [folder, reports] configuration in
            configuration.limits.downloadFolders = [folder.path]
            configuration.downloadHandler = { file in
                reports.append(file)
                return true
            }
            change(&configuration)
        }
    }

    /// A path of the origin, as a URL with the test's account.
    func url(_ path: String, fault: Bool = false) throws -> URL {
        let text = "\(path)\(path.contains("?") ? "&" : "?")key=\(account)"
        return try URL(spoken: fault ? lab.origin.faultURL(text) : lab.origin.url(text))
    }

    func request(
        _ path: String, to name: String = "file", fault: Bool = false, sha256: String? = nil,
        mirrors: [URL] = []
    ) throws -> OutboxRequest {
        .download(try url(path, fault: fault), to: folder(name), sha256: sha256, mirrors: mirrors)
    }

    static func sum(_ bytes: [UInt8]) throws -> String {
        var digest = try SHA256Digest()
        bytes.withUnsafeBytes { digest.update($0) }
        return SHA256Digest.text(digest.finish())
    }

    func content(_ name: String = "file") -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: folder(name)))).map { Array($0) }
    }

    /// Waits until an entry is a dead letter; says why.
    func died(_ id: OutboxID) async throws -> OutboxFailure {
        try await lab.wait { event -> OutboxFailure? in
            if case .died(id, let failure) = event { failure } else { nil }
        }
    }

    /// Waits until the folder has a part of at least so many bytes.
    func part(of bytes: Int) async throws {
        try await FolderWatch(folder.path).wait { [folder] in
            let isThere = folder.names.contains { name in
                var status = stat()
                return name.hasPrefix(DownloadPath.partPrefix) && !name.contains(".resume")
                    && stat(folder(name), &status) == 0 && status.st_size >= bytes
            }
            return isThere ? () : nil
        }
    }

    /// Waits until the folder has these names alone.
    func names(_ names: [String]) async throws {
        try await FolderWatch(folder.path).wait { [folder] in folder.names == names ? () : nil }
    }
}
