// SPDX-License-Identifier: Apache-2.0

/// The kernel's answers about links that are still valid, kept up to date by the events about links.
///
/// An event about a link has its whole state, written by the same function as an answer
/// (rtnl_fill_ifinfo(), net/core/rtnetlink.c), so the event replaces the answer. A later change has an event
/// of its own; settings without one are those of `LinkState/IPv6Settings`, whose changes other events show.
struct CachedLinks: ~Copyable {
    /// Answers to `link`, `linkNamed`, `links`, `ports` and `device`.
    private var answers = AnswerTable()
    /// Refusals of nl80211: not being Wi-Fi is permanent, the state of a Wi-Fi interface is not.
    private var wireless = AnswerTable()
    /// Whether there is a VRF; nil while unknown.
    private(set) var hasVRF: Bool?
    /// Whether a stored link has IPv6 switched off.
    private(set) var hasOneWithoutIPv6 = false

    subscript(question: KernelQuestion, digest digest: UInt64) -> KernelAnswer? {
        if case .wireless = question { return wireless[question, digest: digest] }
        return answers[question, digest: digest]
    }

    mutating func store(_ question: KernelQuestion, _ answer: KernelAnswer) {
        guard answer.isLasting else { return }
        switch question {
        case .wireless: if case .failure = answer { wireless.set(question, answer) }
        // There is no event for an rfkill switch while the interface is down.
        case .device where answer.isRadio: break
        default:
            answers.set(question, answer)
            if question == .links { hasVRF = answer.links.contains { $0.kind == "vrf" } }
            if !hasOneWithoutIPv6 { hasOneWithoutIPv6 = answer.links.contains { $0.lacksIPv6 } }
        }
    }

    mutating func forget() {
        answers.removeAll()
        wireless.removeAll()
        hasVRF = nil
        hasOneWithoutIPv6 = false
    }

    /// A link appeared or changed, and this is its whole state.
    ///
    /// Everything is asked for again when the link is new or another one: its maker may go on without another
    /// event, as veth_newlink() (drivers/net/veth.c) does with the peer. A device keeps its driver and its
    /// kind of radio.
    mutating func changed(_ link: LinkState) {
        guard let old = state(of: link.index), link.isSameDevice(as: old) else { return forget() }
        forgetGroups(of: link.index, besides: link.master)
        if answers.contains(.link(link.index)) { answers.set(.link(link.index), .link(link)) }
        answers.change(.links) { $0.replace(link) }
        if link.lacksIPv6 { hasOneWithoutIPv6 = true }
    }

    /// A link was removed, or moved into another network namespace.
    mutating func removed(_ index: Int32) {
        forgetDevice(index)
        forgetGroups(of: index, besides: nil)
        answers.removeAll { $0.question == .link(index) || $0.question == .ports(master: index) }
        answers.change(.links) { $0.remove(index) }
        if hasVRF == true { hasVRF = answers[.links].map { $0.links.contains { $0.kind == "vrf" } } }
    }

    private func state(of index: Int32) -> LinkState? {
        if case .link(let link) = answers[.link(index)] { return link }
        return answers[.links]?.links.first { $0.index == index }
    }

    /// Forgets what is asked about a device beside its link.
    private mutating func forgetDevice(_ index: Int32) {
        wireless.removeAll { $0.question == .wireless(index) }
        answers.removeAll { entry in
            if case .device(index, _) = entry.question { true } else { false }
        }
    }

    /// Forgets the lists of ports that have the link, or should, and answers by name.
    private mutating func forgetGroups(of index: Int32, besides master: Int32?) {
        answers.removeAll { entry in
            switch entry.question {
            case .linkNamed: true
            case .ports(let group): group == master || entry.answer.links.contains { $0.index == index }
            default: false
            }
        }
    }
}

extension LinkState {
    fileprivate var lacksIPv6: Bool { ipv6?.isDisabled == true }

    fileprivate func isSameDevice(as other: LinkState) -> Bool {
        name == other.name && kind == other.kind && hardwareType == other.hardwareType
    }
}

extension KernelAnswer {
    /// Whether it is permanent until an event: any but a failure, and ENOENT (no such family), ENODEV,
    /// EOPNOTSUPP.
    var isLasting: Bool {
        if case .failure(let errno) = self { [2, 19, 95].contains(errno) } else { true }
    }

    fileprivate var isRadio: Bool {
        if case .device(let facts) = self { facts.hasPhy80211 } else { false }
    }

    fileprivate var links: [LinkState] {
        switch self {
        case .link(let link): [link]
        case .links(let links): links
        default: []
        }
    }

    /// Replaces the link in a list, in place.
    fileprivate mutating func replace(_ link: LinkState) {
        guard case .links(var links) = self else { return }
        self = .links([])
        if let position = links.firstIndex(where: { $0.index == link.index }) { links[position] = link }
        self = .links(links)
    }

    fileprivate mutating func remove(_ index: Int32) {
        guard case .links(var links) = self else { return }
        self = .links([])
        links.removeAll { $0.index == index }
        self = .links(links)
    }
}
