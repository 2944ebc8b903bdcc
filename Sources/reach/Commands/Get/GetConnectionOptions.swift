// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Reachability
import SessionManager

/// The options for reaching and trusting the server.
struct GetConnectionOptions: ParsableArguments {
    @Option(
        name: [.customLong("pin"), .customLong("pinnedpubkey")],
        help: ArgumentHelp(
            "Accept only a chain with one of these public keys; several separated by ';' or given again.",
            valueName: "sha256//base64"),
        transform: Value.pins)
    var pinSets: [Set<PublicKeyPin>] = []

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities of this file instead of the system's.", valueName: "file"))
    var authorities: String?

    @Option(
        name: [.customShort("E"), .customLong("cert")],
        help: ArgumentHelp(
            "The client's certificate: PEM, or PKCS #12 where the name ends with .p12 or .pfx.",
            valueName: "file"))
    var certificate: String?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("The client's key, where --cert does not hold it.", valueName: "file"))
    var key: String?

    @Option(
        name: .customLong("pass"),
        help: ArgumentHelp(
            "The passphrase of the client's key. Every user of this machine sees it in the list of processes (ps): better --pass-file.",
            valueName: "phrase"))
    var passphrase: String?

    @Option(
        name: .customLong("pass-file"),
        help: ArgumentHelp(
            "Read the passphrase of the client's key from this file, without the line breaks at its end.",
            valueName: "file"),
        transform: Value.passphraseFile)
    var passphraseOfFile: String?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("Give up when there is no connection after so long.", valueName: "seconds"),
        transform: Value.seconds)
    var connectTimeout: Duration?

    @Option(
        name: [.customShort("m"), .customLong("max-time")],
        help: ArgumentHelp(
            "Give up when it is not done after so long; 0 for never. Without it a silence of 60 seconds ends it, and with it none that is shorter.",
            valueName: "seconds"),
        transform: Value.seconds)
    var maximumTime: Duration?

    @Option(
        name: .customLong("retry"),
        help: ArgumentHelp(
            "Try so often again after a cut, no connection, or 408, 429, 500, 502, 503 or 504, and wait as Retry-After wants, up to 10 minutes. (default: 5 times after a cut whose rest can be asked for, else never; 0 for never)",
            valueName: "count"),
        transform: Value.retries)
    var retryCount: Int?

    @Option(
        name: .customLong("limit-rate"),
        help: ArgumentHelp(
            "Transfer no faster than so many bytes a second; 200K, 2M.", valueName: "speed"),
        transform: Value.rate)
    var rate: Int64?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            "Go through this proxy: http://host:port, socks5h://host:port; '' for none, whatever the environment says.",
            valueName: "proxy"))
    var proxy: String?

    @Option(
        name: .customLong("unix-socket"),
        help: ArgumentHelp(
            "Connect to this socket of the machine, whatever host the URL names; @NAME for an abstract one (unix(7)).",
            valueName: "path"),
        transform: Value.socket)
    var socket: String?

    @Option(via: "Go over this interface alone, or the best one of a medium (wifi, wired, cellular).")
    var via: NetworkRequirement?

    @Option(
        name: .customLong("network"),
        help: ArgumentHelp(
            "Wait for such a network, and leave a dead line for no other: wifiOrWired, wiredOnly, notExpensive or notConstrained. (default: any)",
            valueName: "condition"), transform: Value.networkCondition)
    var condition: NetworkCondition?

    /// The longest silence of the server: the whole transfer's limit, zero for ever; nil for the default.
    var longestSilence: Duration? { maximumTime.flatMap { $0 == .zero || $0 > .seconds(60) ? $0 : nil } }

    func validate() throws {
        if condition == .internet {
            throw ValidationError(
                "--network internet needs a probe, which 'reach get' has not; wait with 'reach wait --for internet' before."
            )
        }
        if socket != nil {
            if proxy?.isEmpty == false {
                throw ValidationError("--unix-socket goes through no proxy; leave out -x.")
            }
            if via != nil || condition != nil {
                throw ValidationError("--unix-socket needs no network; leave out --via and --network.")
            }
        }
        if key != nil, certificate == nil { throw ValidationError("--key needs --cert.") }
        if let certificate, key != nil, Self.isArchive(certificate) {
            throw ValidationError("a PKCS #12 file holds its key; leave --key out.")
        }
        let hasPassphrase = passphrase != nil || passphraseOfFile != nil
        if hasPassphrase, certificate == nil { throw ValidationError("--pass and --pass-file need --cert.") }
        if passphrase != nil, passphraseOfFile != nil {
            throw ValidationError("give --pass or --pass-file, not both.")
        }
        if identity?.lacksPassphrase == true {
            throw ValidationError(
                "the key in \(key ?? certificate ?? "") is protected by a passphrase; give it by --pass-file."
            )
        }
    }

    /// Refuses an unusable proxy; its address may have a password and is not repeated.
    func validateProxy(for url: URL) throws {
        guard socket == nil else { return }
        let choice = ProxyChoice(for: url, configured: proxy, environment: ProxyChoice.environment())
        guard let choice, let fault = choice.fault else { return }
        throw ValidationError(
            "the proxy of \(choice.variable ?? "--proxy") cannot be used: \(fault); write \(ProxyChoice.spelling)."
        )
    }

    var pins: Set<PublicKeyPin> { pinSets.reduce(into: []) { $0.formUnion($1) } }

    /// The trust policy for the server.
    var policy: SecurityPolicy {
        var policy = pins.isEmpty ? SecurityPolicy.default : SecurityPolicy(pinnedKeys: pins)
        if let authorities { policy.trustRoots = .only(.file(authorities)) }
        policy.clientIdentity = identity
        return policy
    }

    private var identity: ClientIdentity? {
        guard let certificate else { return nil }
        let passphrase = passphrase ?? passphraseOfFile
        return Self.isArchive(certificate)
            ? .pkcs12(.file(certificate), passphrase: passphrase)
            : .pem(certificate: .file(certificate), key: key.map { .file($0) }, passphrase: passphrase)
    }

    var configuration: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        configuration.unixSocket = socket
        return configuration
    }

    private static func isArchive(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }
}
