// SPDX-License-Identifier: Apache-2.0
//
// Fetches JSON as a value of one's own, from a server whose key is pinned.
//
//     swift run --package-path Examples fetch-user https://api.example.com/v1 'sha256//…'

import SessionManager

guard CommandLine.arguments.count > 2 else { fatalUsage() }
let (address, pin) = (CommandLine.arguments[1], CommandLine.arguments[2])

struct User: Decodable, Sendable {
    var id: Int
    var name: String
}

do {
    let api = try HTTPSessionManager(baseURL: address, securityPolicy: SecurityPolicy(pins: pin))
    let user: User = try await api.get("users/1", parameters: ["fields": "id,name"])
    print("\(user.id) is \(user.name)")
} catch {
    print(error)  // a wrong pin: which key the server showed, which ones were expected, and what to do
}
