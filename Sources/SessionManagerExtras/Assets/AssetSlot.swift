// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import SessionCore
import Synchronization

/// A slot that shows one asset: always the one that was asked for last.
///
/// For a picture frame, a line of a list, a file that follows a URL. From any thread.
public final class AssetSlot<Value: Sendable>: Sendable {
    private struct Load {
        let id: UUID
        let url: URL
        var receipt: AssetReceipt?
    }

    private let current = Mutex<Load?>(nil)
    private let downloader: AssetDownloader<Value>
    private let show: @Sendable (Value?) -> Void

    /// A slot.
    ///
    /// - Parameters:
    ///   - downloader: may serve many slots.
    ///   - show: called with what is to be shown, nil for nothing; by ``load(_:placeholder:completion:)`` for
    ///     placeholders and for what is in memory, else on the downloader's queue.
    public init(_ downloader: AssetDownloader<Value>, show: @escaping @Sendable (Value?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// Shows what a request asks for, as soon as it is there.
    ///
    /// The same URL while it is loading changes nothing; another one cancels the earlier. What is in memory
    /// is shown before this returns. A failure leaves the placeholder.
    ///
    /// - Parameters:
    ///   - request: nil shows the placeholder, and fails with ``SessionError/Code/badURL``.
    ///   - completion: gets the asset *instead of* it being shown.
    public func load(
        _ request: SessionRequest?, placeholder: Value? = nil,
        completion: AssetDownloader<Value>.Completion? = nil
    ) {
        let id = UUID()
        let earlier: AssetReceipt?? = current.withLock { current in
            if let request, current?.url == request.url { return nil }
            defer { current = request.map { Load(id: id, url: $0.url) } }
            return .some(current?.receipt)
        }
        // Loading already.
        guard let earlier else { return }
        if let earlier { downloader.cancel(earlier) }
        guard let request else {
            show(placeholder)
            completion?(.failure(SessionError(.badURL, "there is no URL to fetch an asset from")))
            return
        }
        if let value = downloader.cached(request) {
            guard finish(id) else { return }
            if let completion {
                completion(.success(LoadedAsset(value: value, response: nil)))
            } else {
                show(value)
            }
            return
        }
        show(placeholder)
        let receipt = downloader.download(request, id: id) { [weak self] result in
            // Another was asked for meanwhile, or the slot is gone.
            guard let self, finish(id) else { return }
            if let completion {
                completion(result)
            } else if case .success(let asset) = result {
                show(asset.value)
            }
        }
        let isStale = current.withLock { current in
            guard current?.id == id else { return current != nil }
            current?.receipt = receipt
            return false
        }
        if isStale, let receipt { downloader.cancel(receipt) }
    }

    /// Stops loading; what is shown stays.
    public func cancel() {
        let receipt: AssetReceipt? = current.withLock { current in
            defer { current = nil }
            return current?.receipt
        }
        if let receipt { downloader.cancel(receipt) }
    }

    /// Whether this load is still the one that counts; it does no longer then.
    private func finish(_ id: UUID) -> Bool {
        current.withLock { current in
            guard current?.id == id else { return false }
            current = nil
            return true
        }
    }
}
