// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// 421 (Misdirected Request): the connection does not lead to the server that is meant.
struct MisdirectedTests {
    private func lab() async throws -> Lab {
        let lab = try await Lab()
        lab.trustOrigin()
        return lab
    }

    @Test(
        "FLD-023 a misdirected request leaves once more over a connection of its own, whatever its method",
        arguments: [HTTPRequest.Method.get, .post], [OriginListener.http, .https, .h2])
    func again(_ method: HTTPRequest.Method, _ listener: OriginListener) async throws {
        let lab = try await lab()
        let key = "fld023-\(method.rawValue)-\(listener)"
        let body: RequestBody? = method == .post ? .data(Data("once".utf8)) : nil
        let request = try lab.request("/misdirected?key=\(key)", method, at: listener, body: body)
        let (content, response) = try await lab.manager.data(for: request)
        #expect(response.statusCode == 200)
        if method == .post { #expect(String(decoding: content, as: UTF8.self).contains("once")) }
        let seen = try await lab.origin.statistics(key)
        #expect(seen.count == 2 && seen.connections == 2)
        // Later requests share connections as usual.
        #expect(try await lab.manager.data(for: lab.request("/get", at: listener)).1.statusCode == 200)
    }

    @Test("FLD-023 a second 421 is the response, and so is the first for a body that cannot be read again")
    func refused() async throws {
        let lab = try await lab()
        let request = try lab.request("/misdirected?always=1&key=fld023-always")
        #expect(try await lab.manager.data(for: request).1.statusCode == 421)
        #expect(try await lab.origin.count("fld023-always") == 2)
        let task = try lab.manager.downloadTask(with: request)
        task.resume()
        let end = await task.outcome()
        #expect(end.response?.statusCode == 421 && end.error?.code == .badServerResponse)
        #expect(end.metrics.count == 2)
    }
}
