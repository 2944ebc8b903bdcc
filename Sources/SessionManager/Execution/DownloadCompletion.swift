// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// Moves a complete download to where it belongs, on a thread of its own.
struct DownloadCompletion: Sendable {
    let task: SessionTask
    let response: SessionResponse
    /// Where the content was received.
    let path: String
    /// The descriptor of the file, locked until the file is moved; nil where it is closed already.
    let descriptor: Int32?
    /// Names the download for a later process; removed when nothing is left to do.
    let resumeFile: ResumeFile?

    /// The path of the file, or why it is not there.
    func run() async -> Result<String, SessionError> {
        defer { if let descriptor { FileSink.close(descriptor) } }
        if let error = await FileThread.run({ flush() }) { return .failure(error) }
        let (delegate, destination) = (task.plan.delegate, task.plan.destination)
        let wanted = await delegate?.task(task, didFinishDownloadingTo: path, response: response)
        guard let wanted = wanted ?? destination?.choose(path, response) else {
            await removeResumeFile()
            return .success(path)
        }
        if let sha256 = wanted.sha256,
            let error = await FileThread.run({ SHA256Digest.refusal(ofFile: path, sha256) })
        {
            return .failure(error)
        }
        guard wanted.path != path else {
            await removeResumeFile()
            return .success(path)
        }
        if let error = await FileThread.run({ replaced ?? FileMove.move(path, to: wanted) }) {
            task.session.events.publish(.downloadMoveFailed(task, error))
            return .failure(error)
        }
        await removeResumeFile()
        task.session.events.publish(.downloadMoved(task, path: wanted.path))
        task.publish(.moved(path: wanted.path))
        return .success(wanted.path)
    }

    private func flush() -> SessionError? {
        guard let descriptor else { return nil }
        return FileSink.flush(descriptor, path, isSynced: resumeFile != nil) ?? replaced
    }

    /// The error where another file is at the path by now, as on file systems without locks; nil for none.
    private var replaced: SessionError? {
        guard let descriptor, !OwnFile.isOpen(descriptor, at: path) else { return nil }
        return SessionError(
            .cannotMoveFile, "\(path) is not the file that was received: another program has changed it",
            advice: "download again, and see who else writes there")
    }

    /// On the thread that writes it, after what is being written to it.
    private func removeResumeFile() async {
        if let resumeFile { await FileThread.run { resumeFile.remove() } }
    }
}
