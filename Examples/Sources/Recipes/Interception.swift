// SPDX-License-Identifier: Apache-2.0
// What Alamofire's Session is asked for, asked of a manager.

import SessionManager

struct Device: Decodable, Sendable {
    var id: Int
    var name: String
}

/// A token in each request, and another try where that may help.
func fetchDevice(token: String) async throws -> Device {
    let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1")
    let sign = Adapter { request, _ in
        var request = request
        request.headerFields[.authorization] = "Bearer \(token)"
        return request
    }
    api.interceptor = Interceptor(adapters: [sign], retriers: [RetryPolicy()])
    return try await api.get("devices/7", parameters: ["fields": "id,name"])
}
