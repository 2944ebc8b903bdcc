// SPDX-License-Identifier: Apache-2.0

#if Metrics
    import Dispatch
    import Glibc

    /// A server on the loopback interface which answers one connection: scripted answers have none.
    struct OneAnswerServer {
        /// Where it listens.
        let port: UInt16

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listens = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, size) == 0 && listen(listener, 1) == 0
                        && getsockname(listener, $0, &size) == 0
                }
            }
            guard listens else { throw ServerError(number: errno) }
            port = UInt16(bigEndian: address.sin_port)
            DispatchQueue.global().async {
                let connection = accept(listener, nil, nil)
                var request = ""
                var buffer = [UInt8](repeating: 0, count: 4096)
                while !request.contains("\r\n\r\n") {
                    let count = read(connection, &buffer, buffer.count)
                    guard count > 0 else { break }
                    request += String(decoding: buffer[..<count], as: UTF8.self)
                }
                let answer = Array("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".utf8)
                _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
                close(connection)
                close(listener)
            }
        }
    }

    private struct ServerError: Error {
        let number: Int32
    }
#endif
