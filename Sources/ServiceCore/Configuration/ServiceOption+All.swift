// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore

extension ServiceOption {
    /// Every option, in the order of the sample file.
    package static let all: [ServiceOption] =
        general + monitor + probe + outbox + history + hooks + metrics + telemetry + log

    private static let general: [ServiceOption] = [
        ServiceOption(
            "socket", .socket, "Where clients find the service (varlink); @NAME for a socket without a file.",
            { .string($0.socket) }, set: { $0.socket = $1.text }),
        ServiceOption(
            "state-directory", .path(isOptional: false),
            "Where the history and the outbox are kept; made where it is missing.",
            { .string($0.stateDirectory) }, set: { $0.stateDirectory = $1.text }),
        ServiceOption(
            "runtime-directory", .path(isOptional: true),
            "Where status.json is written; \"\" for the folder of the socket.",
            { .string($0.runtimeDirectory) }, set: { $0.runtimeDirectory = $1.text }),
        ServiceOption(
            "status-file", .boolean,
            "Whether status.json in the runtime directory says what 'reach status --json' says, always whole.",
            { .boolean($0.statusFile) }, set: { $0.statusFile = $1.flag }),
    ]

    private static let monitor: [ServiceOption] = [
        ServiceOption(
            "monitor.loss-grace", .duration(.zero ... .seconds(60)),
            "How long a loss has to last before the status says so.",
            { .duration($0.monitor.lossGrace) }, set: { $0.monitor.lossGrace = $1.duration }),
        ServiceOption(
            "monitor.expensive", .list,
            "Interfaces whose traffic costs; short for yes in metered.",
            { .texts($0.monitor.expensive) }, set: { $0.monitor.expensive = $1.texts }),
        ServiceOption(
            "monitor.metered", .costs("wwan0"),
            "What the traffic of interfaces costs; counts more than hints, DHCP and the kind of the link.",
            { .texts($0.monitor.metered) }, set: { $0.monitor.metered = $1.texts }),
        ServiceOption(
            "monitor.metered-networks", .costs("office"),
            "What the traffic of Wi-Fi networks costs, by their names.",
            { .texts($0.monitor.networks) }, set: { $0.monitor.networks = $1.texts }),
        ServiceOption(
            "monitor.constrained", .list, "Interfaces on which data is to be saved.",
            { .texts($0.monitor.constrained) }, set: { $0.monitor.constrained = $1.texts }),
        ServiceOption(
            "monitor.mark", .integer(0...0xFFFF_FFFF),
            "The firewall mark of the traffic to ask for; 0 for none.",
            { .integer($0.monitor.mark) }, set: { $0.monitor.mark = $1.number }),
        ServiceOption(
            "monitor.port", .integer(1...65_535),
            "The TCP port of the traffic to ask for, where policy rules treat ports or protocols differently.",
            { .integer($0.monitor.port) }, set: { $0.monitor.port = $1.number }),
    ]

    private static let probe: [ServiceOption] = [
        ServiceOption(
            "probe.url", .url,
            "A server of your own that is asked whether there is internet behind the path; \"\" for none: nothing is sent then.",
            { .string($0.probe.url) }, set: { $0.probe.url = $1.text }),
        ServiceOption(
            "probe.status", .integer(0...599), "The status it answers with; 0 for 200 to 299.",
            { .integer($0.probe.status) }, set: { $0.probe.status = $1.number }),
        ServiceOption(
            "probe.body", .text, "What the content of its answer begins with; \"\" for anything.",
            { .string($0.probe.body) }, set: { $0.probe.body = $1.text }),
        ServiceOption(
            "probe.interval", .duration(.seconds(10) ... .seconds(86_400)),
            "How long after the expected answer it is asked again; after others, and on a new path, sooner.",
            { .duration($0.probe.interval) }, set: { $0.probe.interval = $1.duration }),
        ServiceOption(
            "probe.retry", .duration(.seconds(1) ... .seconds(86_400)),
            "The longest pause while the answer is not the expected one; 15 s at most while something waits for the internet.",
            { .duration($0.probe.retry) }, set: { $0.probe.retry = $1.duration }),
        ServiceOption(
            "probe.expensive-interval", .duration(.zero ... .seconds(604_800)),
            "How long after an answer it is asked again over an expensive uplink; 0 for probe.interval over one in use, and over others only while the preferred uplink fails.",
            { .duration($0.probe.expensiveInterval) }, set: { $0.probe.expensiveInterval = $1.duration }),
    ]

    private static let outbox: [ServiceOption] = [
        ServiceOption(
            "outbox.group", .text,
            "The group, by name or number, that may use the outbox besides root and the service's user; \"\" for none.",
            { .string($0.outbox.group) }, set: { $0.outbox.group = $1.text }),
        ServiceOption(
            "outbox.entries", .integer(1...10_000_000),
            "How many requests it holds, with those that were given up.",
            { .integer($0.outbox.entries) }, set: { $0.outbox.entries = $1.number }),
        ServiceOption(
            "outbox.bytes", .integer(65_536...(1 << 40)), "How many bytes of content it holds.",
            { .integer($0.outbox.bytes) }, set: { $0.outbox.bytes = $1.number }),
        ServiceOption(
            "outbox.body", .integer(1024...(1 << 40)), "How many bytes the content of one request may have.",
            { .integer($0.outbox.body) }, set: { $0.outbox.body = $1.number }),
        ServiceOption(
            "outbox.reply", .integer(0...(1 << 20)),
            "How many bytes of a server's answer are kept with what was delivered lately or given up, beside its head.",
            { .integer($0.outbox.reply) }, set: { $0.outbox.reply = $1.number }),
        ServiceOption(
            "outbox.when-full", .choice(["refuse", "drop-expired-first", "drop-oldest"]),
            "What becomes of a request for which there is no room: it is refused; or what has expired and what was given up makes room; "
                + "or then also the oldest that wait.",
            { .string($0.outbox.whenFull) }, set: { $0.outbox.whenFull = $1.text }),
        ServiceOption(
            "outbox.answer-timeout", .duration(.zero ... .seconds(86_400)),
            "How long a server may take for its answer; twice as long after each try that was sent whole and got none, up to an hour; "
                + "\"0s\" for ever.",
            { .duration($0.outbox.answerTimeout) }, set: { $0.outbox.answerTimeout = $1.duration }),
        ServiceOption(
            "outbox.maximum-attempts", .integer(0...1_000_000),
            "After so many tries that failed, for whatever reason, a request is given up; 0 for never.",
            { .integer($0.outbox.maximumAttempts) }, set: { $0.outbox.maximumAttempts = $1.number }),
        ServiceOption(
            "outbox.batch", .batches,
            "Lanes whose requests are joined, as \"samples=array count:500 bytes:262144 age:10s gzip\": array is a JSON array, lines is NDJSON, "
                + "template has prefix:, separator: and suffix: in percent-encoding; type: is the Content-Type.",
            { .texts($0.outbox.batch) }, set: { $0.outbox.batch = $1.texts }),
        ServiceOption(
            "outbox.budget", .budgets,
            "What lanes may send over expensive paths in a day, as \"samples=bytes:5000000 requests:1000\"; the rest waits.",
            { .texts($0.outbox.budget) }, set: { $0.outbox.budget = $1.texts }),
        ServiceOption(
            "outbox.rate", .integer(0...(1 << 40)),
            "How many bytes of a request's content are sent, or of a file fetched, in a second at most; 0 for no limit.",
            { .integer($0.outbox.rate) }, set: { $0.outbox.rate = $1.number }),
        ServiceOption(
            "outbox.expensive-rate", .integer(0...(1 << 40)),
            "The same over an expensive path; 0 for outbox.rate.",
            { .integer($0.outbox.expensiveRate) }, set: { $0.outbox.expensiveRate = $1.number }),
        ServiceOption(
            "outbox.fetch.folders", .folders,
            "The folders below which files are fetched (reach fetch); [] for 'fetched' in the state directory.",
            { .texts($0.outbox.fetchFolders) }, set: { $0.outbox.fetchFolders = $1.texts }),
        ServiceOption(
            "outbox.fetch.bytes", .integer(1024...(1 << 50)),
            "How many bytes a file may have that is fetched.",
            { .integer($0.outbox.fetchBytes) }, set: { $0.outbox.fetchBytes = $1.number }),
    ]

    private static let history: [ServiceOption] = [
        ServiceOption(
            "history.enabled", .boolean, "Whether changes are kept for 'reach history'.",
            { .boolean($0.history.isOn) }, set: { $0.history.isOn = $1.flag }),
        ServiceOption(
            "history.keep", .duration(.seconds(3600) ... .seconds(3650 * 86_400)),
            "How old changes may become.",
            { .duration($0.history.keep) }, set: { $0.history.keep = $1.duration }),
        ServiceOption(
            "history.entries", .integer(100...10_000_000),
            "How many changes are kept at most; 200 bytes each.",
            { .integer($0.history.entries) }, set: { $0.history.entries = $1.number }),
    ]

    private static let hooks: [ServiceOption] = [
        ServiceOption(
            "hooks.directory", .path(isOptional: true),
            "Programs that are run at each change, in the order of their names; \"\" for none.",
            { .string($0.hooks.directory) }, set: { $0.hooks.directory = $1.text }),
        ServiceOption(
            "hooks.timeout", .duration(.milliseconds(100) ... .seconds(600)),
            "How long one program may run before it is told to end, and two seconds later killed.",
            { .duration($0.hooks.timeout) }, set: { $0.hooks.timeout = $1.duration }),
        ServiceOption(
            "hooks.output", .integer(0...1_048_576), "How many bytes of a program's output go to the log.",
            { .integer($0.hooks.output) }, set: { $0.hooks.output = $1.number }),
    ]

    private static let metrics: [ServiceOption] = [
        ServiceOption(
            "metrics.file", .path(isOptional: true),
            "A file for node_exporter's textfile collector (its name has to end with .prom); \"\" for none.",
            { .string($0.metrics.file) }, set: { $0.metrics.file = $1.text }),
        ServiceOption(
            "metrics.interval", .duration(.seconds(1) ... .seconds(3600)),
            "How often the file is written, besides after changes of the status: these at most once a second.",
            { .duration($0.metrics.interval) }, set: { $0.metrics.interval = $1.duration }),
        ServiceOption(
            "metrics.listen", .endpoint, "Where Prometheus may fetch /metrics; \"\" for nowhere.",
            { .string($0.metrics.listen?.description ?? "") }, set: { $0.metrics.listen = Endpoint($1.text) }),
        ServiceOption(
            "metrics.allow-remote", .boolean,
            "Whether metrics.listen may be an address that other machines reach. There is no password.",
            { .boolean($0.metrics.allowsRemote) }, set: { $0.metrics.allowsRemote = $1.flag }),
        ServiceOption(
            "metrics.clients", .integer(1...256),
            "How many may fetch at the same time; more are turned away.",
            { .integer($0.metrics.clients) }, set: { $0.metrics.clients = $1.number }),
    ]

    private static let telemetry: [ServiceOption] = [
        ServiceOption(
            "telemetry.otlp", .url,
            "A collector of OpenTelemetry that gets the metrics, and changes as log records, through the outbox: its address, to which /v1/metrics and /v1/logs are added; \"\" for none.",
            { .string($0.telemetry.otlp) }, set: { $0.telemetry.otlp = $1.text }),
        ServiceOption(
            "telemetry.remote-write", .url,
            "A server of Prometheus' remote write that gets the metrics through the outbox: the whole address, for example https://example.com/api/v1/write; \"\" for none.",
            { .string($0.telemetry.remoteWrite) }, set: { $0.telemetry.remoteWrite = $1.text }),
        ServiceOption(
            "telemetry.interval", .duration(.seconds(1) ... .seconds(3600)),
            "How often the metrics are sampled; each sample wakes the service up.",
            { .duration($0.telemetry.interval) }, set: { $0.telemetry.interval = $1.duration }),
        ServiceOption(
            "telemetry.every", .duration(.seconds(1) ... .seconds(86_400)),
            "How often the samples go from memory to the outbox, as one request; sooner after 120 samples.",
            { .duration($0.telemetry.every) }, set: { $0.telemetry.every = $1.duration }),
        ServiceOption(
            "telemetry.logs", .boolean,
            "Whether telemetry.otlp gets changes as log records; false for a server that takes metrics alone.",
            { .boolean($0.telemetry.logs) }, set: { $0.telemetry.logs = $1.flag }),
        ServiceOption(
            "telemetry.header", .fields,
            "Header fields of the requests, which are stored; on the command line one on each line.",
            { .texts($0.telemetry.headers) }, set: { $0.telemetry.headers = $1.texts }),
        ServiceOption(
            "telemetry.secret", .secrets,
            "Header fields whose values are looked up when they are sent and never stored, in a file or a variable of the service; on the command line one on each line.",
            { .texts($0.telemetry.secrets) }, set: { $0.telemetry.secrets = $1.texts }),
        ServiceOption(
            "telemetry.network", .choice(NetworkCondition.allCases.map(\.rawValue)),
            "Over which networks the requests may go: any, wifiOrWired, wiredOnly, notExpensive, notConstrained or internet.",
            { .string($0.telemetry.network.rawValue) },
            set: { $0.telemetry.network = NetworkCondition(rawValue: $1.text) ?? .any }),
        ServiceOption(
            "telemetry.expires", .duration(.seconds(60) ... .seconds(365 * 86_400)),
            "How long requests wait for their server, and are kept where it has refused them.",
            { .duration($0.telemetry.expires) }, set: { $0.telemetry.expires = $1.duration }),
        ServiceOption(
            "telemetry.bytes", .integer(65_536...(1 << 30)),
            "How many bytes of them the outbox holds for each server; the oldest make room.",
            { .integer($0.telemetry.bytes) }, set: { $0.telemetry.bytes = $1.number }),
    ]

    private static let log: [ServiceOption] = [
        ServiceOption(
            "log.level", .choice(LogPriority.names.map(\.name)), "The least urgent lines that are written.",
            { .string($0.log.level.name) }, set: { $0.log.level = LogPriority(name: $1.text) ?? .info }),
        ServiceOption(
            "log.format", .choice(["auto", "journal", "plain"]),
            "journal: the priority before each line and no time; plain: with the time; auto: journal where it listens.",
            { .string($0.log.format) }, set: { $0.log.format = $1.text }),
        ServiceOption(
            "log.changes", .integer(1...100_000),
            "How many lines about changes are written in a minute; the rest is counted.",
            { .integer($0.log.changes) }, set: { $0.log.changes = $1.number }),
    ]
}

extension LogPriority {
    static let names: [(name: String, priority: LogPriority)] = [
        ("critical", .critical), ("error", .error), ("warning", .warning), ("notice", .notice),
        ("info", .info), ("debug", .debug),
    ]

    /// The priority's name in configurations and plain logs.
    package var name: String { Self.names.first { $0.priority == self }?.name ?? "info" }

    package init?(name: String) {
        guard let match = Self.names.first(where: { $0.name == name }) else { return nil }
        self = match.priority
    }
}
