// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("The service's configuration")
struct ConfigurationReaderTests {
    private func read(_ text: String) -> ConfigurationReader {
        var reader = ConfigurationReader()
        reader.read(file: "reach.toml", Array(text.utf8))
        reader.finish()
        return reader
    }

    @Test("FLD-020 a path that is too long is reported as such")
    func tooLong() {
        let long = String(repeating: "x", count: 107)
        for (option, value, allowed) in [
            ("--socket", "/" + long, "a path of at most 107 bytes for a socket, and this one has 108"),
            ("--socket", "@" + long, "a path of at most 107 bytes for a socket, and this one has 108"),
            ("--socket", long + "x", "an absolute path, or @ and a name, in quotation marks"),
            (
                "--state-directory", "/" + String(repeating: "x", count: 4095),
                "a path of at most 4095 bytes, and this one has 4096"
            ),
        ] {
            var reader = ConfigurationReader()
            reader.read(arguments: [option, value])
            #expect(
                reader.problems.map(\.description)
                    == ["\(option): \"\(value)\" is not allowed; allowed is \(allowed)"])
        }
        var reader = ConfigurationReader()
        reader.read(arguments: ["--socket", "/" + long.dropLast()])
        #expect(reader.problems.isEmpty)
    }

    @Test("file, environment and command line, the last one wins")
    func layers() {
        var reader = ConfigurationReader()
        reader.read(
            file: "f",
            Array(
                "socket = \"/a\"\n[hooks]\ntimeout = \"1m\"\noutput = 5\n[metrics]\nlisten = \"[::1]:80\""
                    .utf8))
        reader.read(environment: [
            "REACH_SERVE_HOOKS_TIMEOUT": "2m", "REACH_SERVE_HISTORY_ENABLED": "false", "REACH_STATUS": "wifi",
            "REACH_SERVE_MONITOR_EXPENSIVE": "wwan0,usb0",
        ])
        reader.read(arguments: ["--hooks-timeout", "3m", "--state-directory=/s", "--log-level", "debug"])
        reader.finish()
        var expected = ServiceConfiguration()
        expected.socket = "/a"
        expected.stateDirectory = "/s"
        expected.hooks.timeout = .seconds(180)
        expected.hooks.output = 5
        expected.history.isOn = false
        expected.monitor.expensive = ["wwan0", "usb0"]
        expected.metrics.listen = Endpoint("[::1]:80")
        expected.log.level = .debug
        #expect(reader.problems == [])
        #expect(reader.configuration == expected)
        #expect(reader.sources["hooks.timeout"] == "--hooks-timeout")
        #expect(reader.sources["hooks.output"] == "f:4")
    }

    @Test(
        "UPL-245 what traffic costs, by interface and by Wi-Fi network; a wrong word is refused with those there are"
    )
    func metered() {
        let reader = read(
            """
            [monitor]
            expensive = ["usb0"]
            metered = ["wwan0=guess-yes", "eth0=no"]
            metered-networks = ["a=b=yes"]
            constrained = ["wwan0"]
            """)
        #expect(reader.problems == [])
        let configuration = reader.configuration.monitoring
        #expect(configuration.metered == ["wwan0": .guessYes, "eth0": .no])
        #expect(configuration.meteredNetworks == ["a=b": .yes])
        #expect(configuration.constrainedInterfaces == ["wwan0"])
        #expect(configuration.expensiveInterfaces == ["usb0"])
        for wrong in ["wwan0", "=yes", "wwan0=", "wwan0=maybe", "wwan0=Yes"] {
            #expect(
                read("[monitor]\nmetered = [\"\(wrong)\"]").problems.map(\.description) == [
                    "reach.toml:2: monitor.metered: [\"\(wrong)\"] is not allowed; allowed is a list of texts such as "
                        + "[\"wwan0=no\"], each with yes, guess-yes, guess-no, no or unknown"
                ])
        }
        var plain = ConfigurationReader()
        plain.read(arguments: ["--monitor-metered", "wwan0=yes,eth0=no"])
        #expect(plain.configuration.monitor.metered == ["wwan0=yes", "eth0=no"])
    }

    @Test(
        "each problem names file, line, key, and what is allowed",
        arguments: [
            (
                "\n[hooks]\ntimout = \"5s\"",
                "reach.toml:3: hooks.timout: unknown key; did you mean hooks.timeout?"
            ),
            (
                "[hook]\ntimeout = \"5s\"",
                "reach.toml:2: hook.timeout: unknown key; did you mean hooks.timeout?"
            ),
            ("keep = \"1d\"", "reach.toml:1: keep: unknown key; did you mean history.keep?"),
            (
                "[log]\nfolder = \"/x\"",
                "reach.toml:2: log.folder: unknown key; [log] has level, format, changes"
            ),
            (
                "frobnicate = 1",
                "reach.toml:1: frobnicate: unknown key; 'reach serve --sample' prints all there are"
            ),
            (
                "[log]\nlevel = \"loud\"",
                "reach.toml:2: log.level: \"loud\" is not allowed; allowed is one of \"critical\", \"error\", "
                    + "\"warning\", \"notice\", \"info\", \"debug\""
            ),
            (
                "[hooks]\ntimeout = 5",
                "reach.toml:2: hooks.timeout: 5 is not allowed; allowed is a length of time such as \"500ms\", \"10s\", "
                    + "\"5m\", \"24h\" or \"90d\", from 100ms to 10m"
            ),
            (
                "socket = \"x\"",
                "reach.toml:1: socket: \"x\" is not allowed; allowed is an absolute path, or @ and a name, in quotation marks"
            ),
            (
                "status-file = \"true\"",
                "reach.toml:1: status-file: \"true\" is not allowed; allowed is true or false"
            ),
            ("a = ", "reach.toml:1: the value is missing"),
            (
                "[metrics]\nlisten = \"0.0.0.0:9464\"",
                "reach.toml:2: metrics.listen: 0.0.0.0:9464 can be reached by other machines; set metrics.allow-remote = "
                    + "true where that is meant, or listen at 127.0.0.1:9464"
            ),
        ])
    func problems(text: String, expected: String) {
        #expect(read(text).problems.map(\.description) == [expected])
    }

    @Test("all problems are reported at once")
    func several() {
        #expect(read("a = 1\nsocket = 2\nb = 3").problems.count == 3)
        var reader = ConfigurationReader()
        reader.read(arguments: ["--hook-timeout", "5s", "--socket", "x", "--log-level"])
        reader.read(environment: ["REACH_SERVE_SOCKETS": "/x"])
        #expect(
            reader.problems.map(\.description) == [
                "--hook-timeout: unknown option; did you mean --hooks-timeout?",
                "--socket: \"x\" is not allowed; allowed is an absolute path, or @ and a name, in quotation marks",
                "--log-level: the value is missing; allowed is one of \"critical\", \"error\", \"warning\", \"notice\", "
                    + "\"info\", \"debug\"",
                "REACH_SERVE_SOCKETS: unknown variable; did you mean REACH_SERVE_SOCKET?",
            ])
    }

    @Test("a server to ask has to be a URL, and what it answers with a status")
    func probe() {
        let reader = read("[probe]\nurl = \"example.com\"\nstatus = 42\ninterval = \"1s\"")
        #expect(
            reader.problems.map(\.description) == [
                "reach.toml:2: probe.url: \"example.com\" is not allowed; allowed is an http or https URL in quotation marks, "
                    + "or \"\" for none",
                "reach.toml:4: probe.interval: \"1s\" is not allowed; allowed is a length of time such as \"500ms\", \"10s\", "
                    + "\"5m\", \"24h\" or \"90d\", from 10s to 1d",
                "reach.toml:3: probe.status: 42 is no status; allowed is 100 to 599, or 0 for 200 to 299",
            ])
        #expect(read("[probe]\nurl = \"https://example.com/ok\"\nstatus = 204").problems == [])
    }

    @Test("of what was read again, what can change while the service runs is taken, and the rest is named")
    func change() {
        let old = ServiceConfiguration()
        var new = old
        new.socket = "/other"
        new.log.level = .debug
        new.hooks.directory = ""
        new.outbox.entries = 5
        new.metrics.clients = 2
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.applied == ["outbox.entries", "hooks.directory", "log.level"])
        #expect(change.deferred == ["socket", "metrics.clients"])
        var expected = new
        (expected.socket, expected.metrics.clients) = (old.socket, old.metrics.clients)
        #expect(change.inForce == expected)
        #expect(ConfigurationChange(from: change.inForce, to: change.inForce).applied == [])
    }

    @Test(
        "OBX-129 telemetry: short options and long ones, fields with commas, and what is no field is refused")
    func telemetry() {
        for flags in [("--otlp", "--remote-write"), ("--telemetry-otlp", "--telemetry-remote-write")] {
            var reader = ConfigurationReader()
            reader.read(environment: ["REACH_SERVE_TELEMETRY_SECRET": "Authorization: Bearer env:TOKEN"])
            reader.read(arguments: [
                flags.0, "https://c", flags.1 + "=https://p/write", "--telemetry-header", "A: 1, 2\nB: 3",
                "--telemetry-network", "notExpensive",
            ])
            reader.finish()
            var expected = ServiceConfiguration.Telemetry()
            expected.otlp = "https://c"
            expected.remoteWrite = "https://p/write"
            expected.headers = ["A: 1, 2", "B: 3"]
            expected.secrets = ["Authorization: Bearer env:TOKEN"]
            expected.network = .notExpensive
            #expect(reader.problems == [])
            #expect(reader.configuration.telemetry == expected && expected.isOn)
        }
        #expect(!ServiceConfiguration.Telemetry().isOn)
        let wrong = read("[telemetry]\nheader = [\"A\"]\nsecret = [\"A: token\"]\notlp = \"c:4318\"\n")
        #expect(
            wrong.problems.map { $0.key ?? "" } == ["telemetry.header", "telemetry.secret", "telemetry.otlp"])
    }

    @Test("the sample file is right, and says the defaults")
    func sample() throws {
        let sample = ConfigurationText.sample
        #expect(read(sample).problems == [])
        // A commented line is a setting if a key follows the # directly.
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0
        }
        let reader = read(lines.joined(separator: "\n"))
        #expect(reader.problems == [])
        #expect(reader.configuration == ServiceConfiguration())
        #expect(reader.sources.count == ServiceOption.all.count)
    }

    @Test("what is in force can be read again")
    func effective() {
        var configuration = ServiceConfiguration()
        configuration.outbox.group = "a \"b\"\\\u{7}"
        configuration.metrics.listen = Endpoint("127.0.0.1:1")
        configuration.history.keep = .seconds(90 * 60)
        configuration.monitor.expensive = ["x"]
        let text = ConfigurationText.effective(configuration, sources: ["outbox.group": "f:1"])
        #expect(text.contains("# f:1\n"))
        let reader = read(text)
        #expect(reader.problems == [])
        #expect(reader.configuration == configuration)
    }

    @Test("no key, option or variable stands for two things, and each has its help")
    func table() {
        let all = ServiceOption.all
        for names in [all.map(\.key), all.map(\.flag), all.map(\.variable)] {
            #expect(Set(names).count == all.count)
        }
        let help = ConfigurationText.help()
        for option in all {
            #expect(help.contains("  \(option.flag) "))
            #expect(option.summary.hasSuffix("."), "\(option.key)")
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(
        "lengths of time",
        arguments: [
            ("500ms", 500_000_000), ("10s", 10_000_000_000), ("1.5h", 5_400_000_000_000), ("0s", 0),
            ("90d", 7_776_000_000_000_000), ("2m", 120_000_000_000),
        ] as [(String, Int64)])
    func durations(text: String, nanoseconds: Int64) {
        #expect(DurationText.duration(text) == .nanoseconds(nanoseconds))
        #expect(
            DurationText.duration(DurationText.text(.nanoseconds(nanoseconds))) == .nanoseconds(nanoseconds))
    }

    @Test(
        "what is no length of time",
        arguments: ["", "5", "s", "-5s", "5 s", "5.s", ".5s", "1.2.3s", "5y", "99999999999d", "٣s", "5S"])
    func noDuration(text: String) { #expect(DurationText.duration(text) == nil) }

    @Test(
        "lengths of time for people",
        arguments: [
            (0, "0 s"), (40, "0 s"), (1540, "1.5 s"), (9949, "9.9 s"), (9950, "10 s"), (59_400, "59 s"),
            (59_600, "1 min"), (724_000, "12 min 4 s"), (7_500_000, "2 h 5 min"), (273_600_000, "3 d 4 h"),
        ] as [(Int64, String)])
    func people(milliseconds: Int64, text: String) {
        #expect(DurationText.people(.milliseconds(milliseconds)) == text)
    }

    @Test(
        "addresses to listen at",
        arguments: [
            ("127.0.0.1:9464", true), ("[::1]:0", true), ("127.9.9.9:1", true), ("0.0.0.0:80", false),
            ("[::]:80", false),
            ("192.0.2.1:80", false),
        ])
    func endpoints(text: String, isLoopback: Bool) throws {
        let endpoint = try #require(Endpoint(text))
        #expect(endpoint.isLoopback == isLoopback)
        #expect(endpoint.description == text)
    }

    @Test(
        "what is no address",
        arguments: [
            "", "127.0.0.1", ":80", "::1:80", "[127.0.0.1]:80", "localhost:80", "127.0.0.1:99999",
            "127.0.0.1:+1",
        ])
    func noEndpoint(text: String) { #expect(Endpoint(text) == nil) }
}
