// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// What a soak does, from a seed alone: which transfers are started, what the network and the server do
/// meanwhile, what is waited for.
struct SoakPlan {
    /// One after the other; the moments come from what the server tells.
    enum Step {
        case start(SoakTransfer)
        case begin(SoakFault)
        case end(SoakFault)
        /// Until the server has told so many lines more, or nothing happens any more.
        case lines(Int)
    }

    private(set) var steps: [Step] = []
    private(set) var transfers: [SoakTransfer] = []

    init(seed: UInt64, transfers count: Int, faults: Int) {
        var random = SoakRandom(seed)
        var lasting: [(fault: SoakFault, end: Int)] = []
        for number in 0..<faults {
            for key in (number * count / faults)..<((number + 1) * count / faults) {
                let transfer = SoakTransfer(key: key + 1, &random)
                transfers.append(transfer)
                steps.append(.start(transfer))
            }
            steps.append(.lines(1 + random.below(6)))
            let fault = SoakFault.allCases[random.below(SoakFault.allCases.count)]
            // Each of them once at a time, so that it can be ended.
            if !lasting.contains(where: { $0.fault == fault }) {
                steps.append(.begin(fault))
                steps.append(.lines(1 + random.below(4)))
                lasting.append((fault, number + random.below(3)))
            }
            for item in lasting where item.end <= number { steps.append(.end(item.fault)) }
            lasting.removeAll { $0.end <= number }
        }
        for item in lasting { steps.append(.end(item.fault)) }
    }
}

/// One transfer and what the server does to it.
struct SoakTransfer: Sendable {
    enum Kind: CaseIterable {
        case download, data, stream, put, streamedPut, post, idempotentPost, livePost
    }

    /// How the server is spoken to.
    enum Way: CaseIterable {
        case plain, secure
        /// By its name, which is to be looked up.
        case named
        /// By HTTP/2, through a proxy before the server.
        case multiplexed
    }

    /// Which manager carries it out.
    enum Manager: CaseIterable {
        /// Follows the network.
        case following
        /// The same with lanes and limits, and goes over to better paths.
        case queued
        /// Follows no provider: only the connections are watched.
        case alone
    }

    let key: Int
    let kind: Kind
    let size: Int
    let way: Way
    let manager: Manager
    let lane: String?
    /// Whether its content has a validator.
    let isTagged: Bool
    /// What is asked of the server, empty for nothing.
    let fault: String
    /// Whether the file's place is named.
    let namesFile: Bool

    init(key: Int, _ random: inout SoakRandom) {
        self.key = key
        kind = Kind.allCases[random.below(Kind.allCases.count)]
        let length = random.below(3) == 0 ? 256 << 10 : 24 << 10
        size = 1 + random.below(length) + (length > 24 << 10 ? length : 0)
        way = Way.allCases[random.below(Way.allCases.count)]
        manager = Manager.allCases[random.below(Manager.allCases.count)]
        lane = manager == .queued && random.below(2) == 0 ? "lane \(random.below(2))" : nil
        isTagged = random.below(3) > 0
        namesFile = random.below(2) == 0
        let offset = random.below(size)
        let times = 1 + random.below(2)
        fault =
            switch random.below(10) {
            case 0: "&reset=\(offset)&times=\(times)"
            case 1: "&cut=\(offset)&times=\(times)"
            case 2: "&stall=\(offset)&for=0.3"
            case 3: "&busy=1&times=\(times)"
            case 4: sends(kind) ? "&deaf=1&times=\(times)" : "&chunked=1"
            default: ""
            }
    }

    var path: String {
        "/\(sends(kind) ? "take" : "content")?key=\(key)&size=\(size)\(isTagged ? "&tag=1" : "")\(fault)"
    }

    /// The key of a transfer of this URL.
    static func key(in url: URL) -> Int? {
        let item = url.query()?.split(separator: "&").first { $0.hasPrefix("key=") }
        return item.flatMap { Int($0.dropFirst(4)) }
    }

    /// What is sent or received.
    var content: [UInt8] {
        var words = (0..<UInt64((size + 7) / 8)).map { (UInt64(key) << 32 + $0).bigEndian }
        return words.withUnsafeMutableBytes { Array($0.prefix(size)) }
    }

    /// Whether it may be carried out only once.
    var isUnique: Bool { kind == .post || kind == .livePost }
}

private func sends(_ kind: SoakTransfer.Kind) -> Bool {
    switch kind {
    case .download, .data, .stream: false
    case .put, .streamedPut, .post, .idempotentPost, .livePost: true
    }
}

/// The same numbers on every machine (splitmix64).
struct SoakRandom {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((number ^ number >> 31) % UInt64(bound))
    }
}
