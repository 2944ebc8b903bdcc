// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionManager

/// Downloads a file with a record beside it for the next run, and may kill itself in the middle.
///
///     drill URL FILE [BYTES]     SIGKILL after so many bytes;
///                                 else "from RANGE" and "size BYTES" at the end
@main
enum Drill {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 3 || words.count == 4 else { exit(64) }
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        var options = TaskOptions()
        options.resumeFile = "\(words[2]).resume"
        if words.count == 4, let limit = Int64(words[3]) {
            options.downloadProgress = { progress in
                if progress.completedBytes >= limit { kill(getpid(), SIGKILL) }
            }
        }
        do {
            let manager = URLSessionManager(configuration: configuration)
            let task = try manager.downloadTask(
                with: SessionRequest(words[1]), options: options,
                destination: .file(DownloadDestination(words[2])))
            task.resume()
            let outcome = await task.outcome()
            if let error = outcome.error { throw error }
            print("from", task.currentRequest.headerFields[.range] ?? "the beginning")
            print("size", task.downloadProgress.completedBytes)
        } catch {
            print("failed", error)
            exit(1)
        }
    }
}
