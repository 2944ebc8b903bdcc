// SPDX-License-Identifier: Apache-2.0
//
// The code of the README: watches the network, and fetches a value that waits for it.

import Reachability
import SessionManager

struct User: Decodable, Sendable { let name: String }

let network = ReachabilityManager.shared
network.setStatusChangeBlock { print($0.localizedString()) }  // "Reachable via Wired"
network.startMonitoring()  // when it returns, network.status is known

let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1")
let user: User = try await api.get("users/1")  // waits while there is no network
print(user.name)
