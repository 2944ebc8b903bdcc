// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager

/// A file that is replaced as a whole or not at all, with progress.
func downloadFirmware(_ manager: URLSessionManager, from address: String, sha256: String) async throws {
    let options = TaskOptions {
        $0.downloadProgress = { progress in
            print("\(progress.completedBytes) of \(progress.totalBytes ?? 0) bytes")
        }
    }
    let destination = DownloadDestination(
        "/var/lib/device/firmware.bin", sha256: sha256, replacesExisting: true)
    _ = try await manager.download(SessionRequest(address), to: destination, options: options)
}

/// A download that goes on where it was cut off.
func downloadInPieces(_ manager: URLSessionManager, _ request: SessionRequest) async throws -> String? {
    let options = TaskOptions { $0.keepsPartialFile = true }
    let task = try manager.downloadTask(with: request, options: options)
    task.resume()
    let outcome = await task.outcome()
    guard let record = outcome.resumeRecord else { return outcome.filePath }

    // Now, or in another process: the record can be encoded.
    let rest = try manager.downloadTask(resuming: record)
    rest.resume()
    return await rest.outcome().filePath
}

/// The same file of several servers.
func downloadFromMirrors(
    _ manager: URLSessionManager, _ request: SessionRequest, _ mirrors: [URL], sha256: String
) async throws -> URL {
    let options = TaskOptions { $0.mirrors = mirrors }
    let destination = DownloadDestination(
        "/var/lib/device/firmware.bin", sha256: sha256, replacesExisting: true)
    return try await manager.download(request, to: destination, options: options).url
}

/// A download that goes on after this process was killed, or the device switched off.
func downloadWhateverHappens(
    _ manager: URLSessionManager, _ request: SessionRequest, to path: String
) async throws {
    let options = TaskOptions { $0.resumeFile = "\(path).resume" }
    let destination = DownloadDestination(path, replacesExisting: true)
    _ = try await manager.download(request, to: destination, options: options)
}

/// Bodies in one call.
func report(_ api: HTTPSessionManager, _ sample: Sample) async throws {
    try await api.post("samples", json: sample)  // dates of ISO 8601
    try await api.post("login", form: ["user": "device-7", "scope": "write"])
    try await api.put("state", query: ["dry": true], json: ["on": true], headers: ["X-Trace": "1"])
    try await api.put("backup", body: .file(path: "/var/lib/device/backup.tar"))
}

/// What each request of a manager carries.
func makeManager(serial: String) throws -> HTTPSessionManager {
    let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1")
    api.defaultHeaders["X-Device"] = serial
    api.timeoutInterval = .seconds(20)
    return api
}

/// A form with a file; its length is known beforehand and it is read while it is sent.
func uploadLog(_ api: HTTPSessionManager) async throws {
    var form = MultipartFormData()
    try form.append("device-7", name: "device")
    try form.appendFile("/var/log/device.log", name: "log")
    try await api.post("logs", multipart: form)
}

/// One call with ways of its own.
func saveSettings(_ api: HTTPSessionManager, _ settings: [String: Int]) async throws -> [String: Int] {
    let options = TaskOptions {
        $0.lane = "settings"
        $0.networkCondition = .notExpensive
        $0.uploadProgress = { print("\($0.completedBytes) bytes sent") }
    }
    return try await api.put("settings", json: settings, options: options)
}

/// Content as it comes; a slow reader slows the server down.
func followEvents(_ manager: URLSessionManager, _ request: SessionRequest) async throws {
    let (response, content) = try await manager.stream(for: request)
    guard response.statusCode == 200 else { return }
    for try await chunk in content {
        print("\(chunk.count) bytes")
    }
}

/// Tries what may be tried again: twice, with growing pauses, or when the server says (Retry-After).
func makePatientManager() -> URLSessionManager {
    let manager = URLSessionManager()
    manager.interceptor = RetryPolicy()
    return manager
}

/// Bodies above 1 KiB go out compressed, to a server that is known to understand it.
func compressBodies(of manager: URLSessionManager) {
    manager.interceptor = Interceptor(adapters: [RequestCompressor(.gzip) { $0.count > 1024 }])
}

/// Answers that need not be fetched again, also after a restart.
func storeResponses(of manager: URLSessionManager) {
    manager.cache = DiskResponseCache(directory: "/var/cache/meter/responses", diskCapacity: 16 << 20)
}

/// The same with blocks, on a queue of one's own choice.
func makeTask(_ manager: URLSessionManager) throws -> SessionTask {
    let request = try SessionRequest("https://api.example.com/status")
    let task = try manager.dataTask(with: request) { response, object, error in
        print(response?.statusCode ?? 0, object as? JSONValue ?? .null, error.map { "\($0)" } ?? "no error")
    }
    task.resume()
    return task
}

/// Many small requests at the least cost: nothing changes threads.
func sizes(of addresses: [String], by manager: URLSessionManager) async throws -> [Int] {
    try await withTaskExecutorPreference(manager.transferExecutor) {
        var sizes: [Int] = []
        for address in addresses {
            let (data, _) = try await manager.data(for: SessionRequest(address))
            sizes.append(data.count)
        }
        return sizes
    }
}

/// A body that is sent only where it is wanted.
func uploadArchive(_ manager: URLSessionManager, to address: String) async throws -> SessionResponse {
    var request = try SessionRequest(
        address, method: .put, body: .file(path: "/var/lib/device/archive.tar"))
    request.options.continueTimeout = .seconds(2)
    return try await manager.data(for: request).1
}

/// Not faster than the others can bear: all uploads together.
func makeModestManager() -> URLSessionManager {
    URLSessionManager(
        configuration: SessionConfiguration { $0.maximumUploadBytesPerSecond = 64 << 10 })
}

/// One upload.
func uploadSlowly(_ manager: URLSessionManager, _ request: SessionRequest) async throws {
    var request = request
    request.options.maximumUploadBytesPerSecond = 16 << 10
    _ = try await manager.data(for: request)
}

/// A manager for servers of the device's own authority, and of public ones.
func managerWithOwnAuthority() throws -> HTTPSessionManager {
    var policy = SecurityPolicy()
    policy.trustRoots = .systemAnd(.file("/etc/device/ca.pem"))
    return try HTTPSessionManager(baseURL: "https://device.example.com/", securityPolicy: policy)
}
