// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RequestDefaultsTests {
    @Test("AF-045 a fresh serializer has Accept-Language and User-Agent and nothing else")
    func fresh() {
        let fields = HTTPRequestSerializer().headerFields
        #expect(fields.map(\.name.rawName) == ["Accept-Language", "User-Agent"])
        #expect(fields.allSatisfy { !$0.value.isEmpty })
    }

    @Test("AF-046 at most six languages, weighted from 1 to 0.5")
    func languages() {
        #expect(
            PreferredLanguages.acceptLanguage(["en-US", "fr", "de", "es", "it", "pt", "ja"])
                == "en-US;q=1, fr;q=0.9, de;q=0.8, es;q=0.7, it;q=0.6, pt;q=0.5")
        #expect(PreferredLanguages.acceptLanguage(["de"]) == "de;q=1")
        #expect(
            DefaultHeaderFields(languages: [], userAgent: .current).fields.map(\.name.rawName) == [
                "User-Agent"
            ])
    }

    @Test(
        "languages come from the environment",
        arguments: [
            (["LANGUAGE": "de_AT:fr:C:en_GB.UTF-8@euro", "LANG": "it_IT"], ["de-AT", "fr", "en-GB"]),
            (["LC_ALL": "sr_RS@latin", "LC_MESSAGES": "fr_FR", "LANG": "it_IT"], ["sr-RS"]),
            (["LC_ALL": "", "LC_MESSAGES": "fr_FR.ISO-8859-1", "LANG": "it_IT"], ["fr-FR"]),
            (["LANGUAGE": "", "LANG": "it_IT.UTF-8"], ["it-IT"]),
            (["LANG": "C.UTF-8"], ["en"]), (["LANG": "POSIX"], ["en"]), ([:], ["en"]),
            (["LANG": "de\r\nEvil: 1"], ["en"]), (["LANG": "zh_Hant_TW"], ["zh-Hant-TW"]),
        ] as [([String: String], [String])])
    func environment(_ environment: [String: String], _ expected: [String]) {
        #expect(PreferredLanguages.read(environment) == expected)
    }

    @Test("AF-048 a User-Agent is pure ASCII, whatever the program is called")
    func userAgent() {
        let agent = UserAgent(program: "Töst", version: "1.2").description
        #expect(agent.hasPrefix("Tost/1.2 ("))
        #expect(agent.utf8.allSatisfy { $0 < 0x80 })
        let odd = UserAgent(
            program: "o\u{308}ß 試\r\nEvil: 1", version: "ł(1)", platform: "Lin(ux)\r\n ž\u{7F}\\")
        #expect(odd.description == "oss---Evil--1/l-1- (Linux z)")
        #expect(UserAgent(program: "試", platform: "p").description == "unknown (p)")
    }

    @Test("a program that has no version does not invent one, and the platform is this machine's")
    func platform() {
        #expect(
            UserAgent(program: "p", platform: "Linux 6.1; aarch64").description == "p (Linux 6.1; aarch64)"
        )
        #expect(UserAgent.platform.hasPrefix("Linux "))
        #expect(UserAgent.platform.contains("; "))
        #expect(!UserAgent.current.program.isEmpty)
    }

    @Test("AF-049 basic authorization is the base64 of the UTF-8")
    func basic() throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setBasicAuthorization(user: "user", password: "password")
        #expect(serializer.value(forHeader: "authorization") == "Basic dXNlcjpwYXNzd29yZA==")
        try serializer.setBasicAuthorization(user: "üser", password: "pä:ss")
        #expect(serializer.headerFields[values: .authorization] == ["Basic w7xzZXI6cMOkOnNz"])
        for (user, password) in [("a:b", "c"), ("a\n", "c"), ("a", "c\0")] {
            let error = sessionError { try serializer.setBasicAuthorization(user: user, password: password) }
            #expect(error?.code == .invalidHeaderField)
        }
    }

    @Test("AF-050 clearing the authorization removes nothing else")
    func clear() throws {
        var serializer = HTTPRequestSerializer()
        let before = serializer.headerFields
        try serializer.setBasicAuthorization(user: "user", password: "password")
        serializer.clearAuthorization()
        #expect(serializer.headerFields == before)
        #expect(serializer.value(forHeader: "Authorization") == nil)
    }

    @Test("a default field is set, read and removed whatever the case of its name")
    func fields() throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("1", forHeader: "X-Thing")
        #expect(serializer.value(forHeader: "x-thing") == "1")
        try serializer.setValue(nil, forHeader: "X-THING")
        #expect(serializer.value(forHeader: "X-Thing") == nil)
        #expect(serializer.value(forHeader: "no name") == nil)
        #expect(sessionError { try serializer.setValue("a\nb", forHeader: "X") }?.code == .invalidHeaderField)
        #expect(sessionError { try serializer.setValue("a", forHeader: "X Y") }?.code == .invalidHeaderField)
    }

    @Test("AF-052 an option reaches the request only if it has been set, even to its default")
    func options() throws {
        var serializer = HTTPRequestSerializer()
        #expect(try serializer.makeRequest("GET", "http://h/").options == RequestOptions())
        for seconds in [10, 60] {
            serializer.options.timeoutInterval = .seconds(seconds)
            #expect(
                try serializer.makeRequest("GET", "http://h/").options.timeoutInterval == .seconds(seconds))
        }
        var request = try SessionRequest("http://h/")
        request.options.handlesCookies = false
        request.options.timeoutInterval = .seconds(5)
        request.options.timeouts = RequestTimeouts(
            connect: .seconds(1), firstByte: .seconds(2), total: .seconds(3))
        serializer.options.firstByteTimeout = .seconds(9)
        var expected = request.options
        expected.timeoutInterval = .seconds(60)
        expected.timeouts.firstByte = .seconds(9)
        #expect(try serializer.serialize(request, parameters: nil).options == expected)
    }

    @Test("each option that is set reaches the request")
    func everyOption() throws {
        var changes = RequestOptionChanges()
        changes.timeoutInterval = .seconds(1)
        changes.connectTimeout = .seconds(2)
        changes.firstByteTimeout = .seconds(3)
        changes.totalTimeout = .seconds(4)
        changes.cachePolicy = .returnCacheDataDontLoad
        changes.allowsExpensiveNetwork = false
        changes.handlesCookies = false
        changes.networkServiceType = .background
        changes.interface = "eth0"
        changes.decompressesContent = false
        changes.maximumContentLength = 5
        changes.maximumHTTPVersion = .http1_0
        var expected = RequestOptions()
        expected.timeoutInterval = .seconds(1)
        expected.timeouts = RequestTimeouts(connect: .seconds(2), firstByte: .seconds(3), total: .seconds(4))
        expected.cachePolicy = .returnCacheDataDontLoad
        expected.allowsExpensiveNetwork = false
        expected.handlesCookies = false
        expected.networkServiceType = .background
        expected.interface = "eth0"
        expected.decompressesContent = false
        expected.maximumContentLength = 5
        expected.maximumHTTPVersion = .http1_0
        var options = RequestOptions()
        changes.apply(to: &options)
        #expect(options == expected)
    }

    @Test("AF-054 a copy, and what has been written down, has everything")
    func copies() throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("1", forHeader: "X")
        serializer.headerFields.append(HTTPField(name: .accept, value: "a/b"))
        serializer.headerFields.append(HTTPField(name: .accept, value: "c/d"))
        serializer.textEncoding = .isoLatin1
        serializer.methodsEncodingParametersInURI = [.get]
        serializer.options.timeoutInterval = .milliseconds(1500)
        serializer.options.cachePolicy = .reloadIgnoringLocalCacheData
        serializer.queryStringEncoder.options.arrays = .indexed
        serializer.queryBlock = { _, _ in "block" }
        let copy = serializer
        #expect(try copy.makeRequest("GET", "http://h/", parameters: [:]).url.query() == "block")
        let written = try JSONEncoder().encode(serializer)
        let read = try JSONDecoder().decode(HTTPRequestSerializer.self, from: written)
        for other in [copy, read] {
            #expect(Array(other.headerFields) == Array(serializer.headerFields))
            #expect(other.textEncoding == .isoLatin1)
            #expect(other.methodsEncodingParametersInURI == [.get])
            #expect(other.options == serializer.options)
            #expect(other.queryStringEncoder.options == serializer.queryStringEncoder.options)
        }
        #expect(read.queryBlock == nil)
    }

    @Test("what has been written down badly is refused, and what is missing has its default")
    func badArchive() throws {
        for text in [#"{"headerFields":[["X","a\nb"]]}"#, #"{"methodsEncodingParametersInURI":["G T"]}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(HTTPRequestSerializer.self, from: Data(text.utf8))
            }
        }
        let fresh = try JSONDecoder().decode(HTTPRequestSerializer.self, from: Data("{}".utf8))
        #expect(fresh.headerFields == HTTPRequestSerializer().headerFields)
        #expect(fresh.methodsEncodingParametersInURI == [.get, .head, .delete])
    }
}
