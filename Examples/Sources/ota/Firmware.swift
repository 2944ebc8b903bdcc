// SPDX-License-Identifier: Apache-2.0

import Glibc
import SessionManager

/// A file that has to arrive whole and unchanged, however often the connection breaks or the device is
/// switched off.
struct Firmware {
    var address: String
    /// In hexadecimal digits.
    var sha256: String
    var path: String
    /// By which the pauses between tries pass.
    var clock: any Clock<Duration> = ContinuousClock()

    private var part: String { path + ".part" }

    func fetch(with manager: URLSessionManager) async throws {
        var options = TaskOptions()
        options.partialFile = part
        options.resumeFile = path + ".resume"  // an earlier run has left it, however it ended
        var request = try SessionRequest(address)
        request.options.decompressesContent = false  // ranges and the checksum are of the file as it is

        for pause in [1, 5, 30, 120, 300] {
            let task = try manager.downloadTask(with: request, options: options)
            task.resume()  // held while there is no network
            let outcome = await task.outcome()
            guard let error = outcome.error else { return try install() }
            guard outcome.resumeRecord != nil || error.response == nil else { throw error }
            print("ota: \(error.message); once more in \(pause) s")
            try await clock.sleep(for: .seconds(pause))
        }
        throw FirmwareError("\(address) did not come in five tries; what came is kept")
    }

    /// The file appears under its name as a whole and with the right content, or not at all.
    private func install() throws {
        guard checksum(of: part) == sha256 else {
            unlink(part)
            throw FirmwareError("\(address) is not the firmware that was announced")
        }
        guard rename(part, path) == 0 else {
            throw FirmwareError("\(path): \(String(cString: strerror(errno)))")
        }
    }
}

struct FirmwareError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// What sha256sum(1) says of a file; every device has it.
func checksum(of path: String) -> String? {
    setenv("OTA_FILE", path, 1)
    guard let pipe = popen("sha256sum <\"$OTA_FILE\"", "r") else { return nil }
    var digits = [CChar](repeating: 0, count: 65)
    let count = fread(&digits, 1, 64, pipe)
    return pclose(pipe) == 0 && count == 64 ? String(cString: digits) : nil
}
