// SPDX-License-Identifier: Apache-2.0
// Pictures and other content that several places of a program show, and what a program shows of its
// transfers.

import FoundationEssentials
import SessionManagerExtras
import Synchronization

/// A frame that shows the picture it was told last.
///
/// Many frames may share the downloader: each URL is fetched once, four at a time.
func makeFrame(
    _ manager: URLSessionManager, draw: @escaping @Sendable (Data?) -> Void
) -> AssetSlot<ImageDescription> {
    let pictures = AssetDownloader(
        manager: manager, serializer: ImageResponseSerializer(),
        cache: AutoPurgingCache(capacity: 20 << 20, preferredUsage: 12 << 20))
    return AssetSlot(pictures) { picture in draw(picture?.data) }
}

/// Empties a cache when memory runs short, as long as the monitor is kept.
func empty(_ pictures: AutoPurgingCache<ImageDescription>) throws -> MemoryPressureMonitor {
    try MemoryPressureMonitor(purging: [pictures])
}

/// Shows the newest picture of a camera, whatever is still on its way.
func show(_ number: Int, in frame: AssetSlot<ImageDescription>) throws {
    frame.load(try SessionRequest("https://camera.example.com/pictures/\(number).jpg"))
}

/// A page of text; one that is still loading is cancelled.
func page(_ name: String, from pages: PageLoader) async throws -> String {
    try await pages.load(SessionRequest("https://help.example.com/\(name).txt"))
}

/// A line on the terminal that follows a transfer for as long as the binding is kept.
func showProgress(of task: SessionTask) -> TaskBinding {
    let bar = Mutex(TransferProgressBar())
    let start = ContinuousClock.now
    let binding = TaskBinding { moment in
        let line = bar.withLock { bar in
            bar.update(moment.download, at: start.duration(to: .now))
            return bar.line(columns: 80)
        }
        print("\r" + line, terminator: moment.isActive ? "" : "\n")
    }
    binding.bind(to: task)
    return binding
}

/// A light that is on while requests have been running for a second.
func makeLight(
    for manager: URLSessionManager, light: @escaping @Sendable (Bool) -> Void
) -> ActivityIndicator {
    let indicator = ActivityIndicator(action: light)
    indicator.follow(manager)
    indicator.isEnabled = true
    return indicator
}
