// SPDX-License-Identifier: Apache-2.0

import SessionManager

/// A file that has to arrive whole and unchanged, however often the connection breaks or the device is
/// switched off.
struct Firmware {
    var address: String
    /// In hexadecimal digits.
    var sha256: String
    var path: String
    /// Other addresses of the same file, asked where the first fails.
    var mirrors: [String] = []
    /// By which the pauses between tries pass.
    var clock: any Clock<Duration> = ContinuousClock()

    func fetch(with manager: URLSessionManager) async throws {
        var options = TaskOptions()
        options.partialFile = path + ".part"
        options.resumeFile = path + ".resume"  // an earlier run has left it, however it ended
        options.mirrors = try mirrors.map { try SessionRequest($0).url }
        var request = try SessionRequest(address)
        request.options.decompressesContent = false  // ranges and the checksum are of the file as it is
        // The file appears under its name as a whole and with the right content, or not at all.
        let destination = DownloadDestination(path, sha256: sha256, replacesExisting: true)

        for pause in [1, 5, 30, 120, 300] {
            let task = try manager.downloadTask(
                with: request, options: options, destination: .file(destination))
            task.resume()  // held while there is no network
            let outcome = await task.outcome()
            guard let error = outcome.error else { return }
            let isPassing = outcome.resumeRecord != nil || error.response == nil
            guard isPassing, error.code != .checksumMismatch else { throw error }
            print("ota: \(error.message); once more in \(pause) s")
            try await clock.sleep(for: .seconds(pause))
        }
        throw FirmwareError("\(address) did not come in five tries; what came is kept")
    }
}

struct FirmwareError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
