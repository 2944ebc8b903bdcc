// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
package import ReachabilityCore

/// Calls getaddrinfo(3) on a new thread for each question, because it can take a minute.
package struct SystemResolver: NameResolving {
    package init() {}

    package func resolve(
        _ name: String, in namespace: String?,
        _ completion: @escaping @Sendable (Result<[ReachabilityDestination], NameFailure>) -> Void
    ) {
        do {
            try LoopThread.start(name: "reach-resolve") {
                completion(Self.addresses(of: name, in: namespace))
            }.detach()
        } catch {
            completion(.failure(.temporary("cannot resolve \(name): \(error)")))
        }
    }

    /// The addresses as resolved inside a network namespace; blocks.
    package static func addresses(
        of name: String, in namespace: String?
    ) -> Result<[ReachabilityDestination], NameFailure> {
        guard let namespace else { return addresses(of: name) }
        do {
            return try NamespaceEntry(path: namespace).run { addresses(of: name) }
        } catch {
            return .failure(.temporary("\(error)"))
        }
    }

    /// The addresses in the order of preference (RFC 6724); blocks.
    package static func addresses(of name: String) -> Result<[ReachabilityDestination], NameFailure> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket  // one entry for each address, not one for each kind of socket
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else {
            let sentence = "\(name): \(String(cString: gai_strerror(code)))"
            return .failure(
                code == EAI_NONAME || code == eaiNoData ? .noSuchName(sentence) : .temporary(sentence))
        }
        defer { freeaddrinfo(list) }
        var found: [ReachabilityDestination] = []
        var entry = list
        while let info = entry?.pointee {
            if let destination = destination(info), !found.contains(destination) { found.append(destination) }
            entry = info.ai_next
        }
        return found.isEmpty ? .failure(.noSuchName("\(name): no address")) : .success(found)
    }

    private static let streamSocket = Int32(SOCK_STREAM.rawValue)
    // EAI_NODATA (netdb.h) is a GNU extension that Swift's Glibc does not show.
    private static let eaiNoData: Int32 = -5

    private static func destination(_ info: addrinfo) -> ReachabilityDestination? {
        guard let socketAddress = info.ai_addr else { return nil }
        switch info.ai_family {
        case AF_INET:
            return socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                ReachabilityDestination(IPAddress(v4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr)))
            }
        case AF_INET6:
            return socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                let bytes = withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
                guard let address = IPAddress(bytes: bytes) else { return nil }
                return ReachabilityDestination(address, zone: zone(pointer.pointee.sin6_scope_id))
            }
        default: return nil
        }
    }

    private static func zone(_ index: UInt32) -> String? {
        guard index != 0 else { return nil }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &name) != nil else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
