// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The server of this machine's questions for names, within a namespace: 10.9.0.1 for soak.test, or a
/// failure.
package struct SoakNames {
    package let program: RunningProgram

    private static let server = """
        import signal, socket, struct, sys
        fails = False
        def told(number, _):
            global fails
            fails = number == signal.SIGUSR1
            print('fails' if fails else 'answers', flush=True)
        signal.signal(signal.SIGUSR1, told)
        signal.signal(signal.SIGHUP, told)
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((sys.argv[1], 53))
        print('ready', flush=True)
        while True:
            query, peer = server.recvfrom(512)
            end = query.index(0, 12) + 5
            isKnown = query[12:end - 4].lower() == b'\\4soak\\4test\\0' and not fails
            isAddress = isKnown and query[end - 4:end - 2] == b'\\0\\1'
            code = 0x8180 if isKnown else 0x8182 if fails else 0x8183
            answer = query[:2] + struct.pack('>HHHHH', code, 1, isAddress, 0, 0) + query[12:end]
            if isAddress:
                answer += struct.pack('>HHHIH', 0xc00c, 1, 1, 1, 4) + socket.inet_aton('10.9.0.1')
            server.sendto(answer, peer)
        """

    /// Starts it behind both lines; nil where it cannot be, a failure where namespaces are required.
    package static func start(_ paths: TwoPaths) async throws -> SoakNames? {
        let names = try await start(paths.lab.far)
        if names == nil, NetworkLab.isRequired {
            throw LabError("no name server of resolv.conf can be played here")
        }
        return names
    }

    /// Starts it at the addresses that the resolver of this machine asks (resolv.conf(5)); nil where it asks
    /// by IPv6 alone.
    package static func start(_ namespace: NetworkNamespace) async throws -> SoakNames? {
        let text = (try? String(contentsOfFile: "/etc/resolv.conf", encoding: .utf8)) ?? ""
        let servers = text.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.first == "nameserver" && words.count > 1 ? words[1] : nil
        }
        let addresses = servers.filter { !$0.contains(":") && !$0.hasPrefix("127.") }
        guard servers.isEmpty || servers.contains(where: { !$0.contains(":") }) else { return nil }
        for address in addresses { try await namespace.ip("addr replace \(address)/32 dev lo") }
        // Answers come from the address that was asked, also over another link than the one it is on.
        let address = addresses.count == 1 ? String(addresses[0]) : ""
        let program = try await namespace.start(["/usr/bin/python3", "-B", "-c", server, address])
        guard await program.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the name server does not start: \(program.standardError)")
        }
        // A resolver may ask elsewhere than there.
        let answer = try await namespace.reactor.run(["getent", "ahostsv4", "soak.test"])
        guard answer.text.hasPrefix("10.9.0.1") else {
            program.terminate()
            return nil
        }
        return SoakNames(program: program)
    }

    package func fail(_ fails: Bool) async {
        let (signal, word) = fails ? (SIGUSR1, "fails") : (SIGHUP, "answers")
        let count = program.output.elements.count { $0 == word }
        program.terminate(signal: signal)
        await program.output.wait { $0.count { $0 == word } > count }
    }
}
