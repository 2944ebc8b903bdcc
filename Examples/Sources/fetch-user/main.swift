// SPDX-License-Identifier: Apache-2.0
//
// Fetches JSON as a value of one's own, from a server whose key is pinned.
//
//     swift run --package-path Examples fetch-user https://api.example.com/v1 'sha256//…'

import Glibc
import SessionManager

struct User: Decodable, Sendable {
    let id: Int, name: String
}

let words = CommandLine.arguments
guard words.count == 3 else { exit(64) }  // usage: fetch-user https://api.example.com/v1 'sha256//…'
do {
    let api = try HTTPSessionManager(baseURL: words[1], securityPolicy: SecurityPolicy(pins: words[2]))
    let user: User = try await api.get("users/1", parameters: ["fields": "id,name"])
    print("\(user.id) is \(user.name)")
} catch {
    print(error)  // a wrong pin: which keys the server showed, which one was expected, and what to do
    exit(1)
}
