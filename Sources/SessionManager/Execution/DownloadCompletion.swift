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
    /// The descriptor of the file, to be closed; nil where it is closed already.
    let descriptor: Int32?
    /// Names the download for a later process; removed when nothing is left to do.
    let resumeFile: ResumeFile?

    /// The path of the file, or why it is not there.
    func run() async -> Result<String, SessionError> {
        if let descriptor,
            let error = await FileThread.run({
                FileSink.close(descriptor, path, isSynced: resumeFile != nil)
            })
        {
            return .failure(error)
        }
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
        if let error = await FileThread.run({ FileMove.move(path, to: wanted) }) {
            task.session.events.publish(.downloadMoveFailed(task, error))
            return .failure(error)
        }
        await removeResumeFile()
        task.session.events.publish(.downloadMoved(task, path: wanted.path))
        task.publish(.moved(path: wanted.path))
        return .success(wanted.path)
    }

    /// On the thread that writes it, after what is being written to it.
    private func removeResumeFile() async {
        if let resumeFile { await FileThread.run { resumeFile.remove() } }
    }
}
