// SPDX-License-Identifier: Apache-2.0

/// What a queue has to know of the network at an instant.
package struct NetworkFacts: Sendable, Equatable {
    /// Whether there is a usable path.
    package enum Standing: Sendable {
        /// Unknown: nothing speaks against trying.
        case unknown
        case offline
        case online
    }

    package var standing: Standing
    /// Whether Wi-Fi carries the path.
    package var isWiFi = false
    /// Whether a wire carries it, and no modem.
    package var isWired = false
    package var isExpensive = false
    /// Whether data is to be saved on it.
    package var isConstrained = false
    /// The interface that the kernel has chosen.
    package var interface: String?
    /// Whether everything is bound to that interface, since it was asked for.
    package var isRequired = false
    /// Whether the line of that interface is dead, and the alternative carries what goes beyond the router.
    package var isDetoured = false
    /// An interface with a path of its own while the kernel's choice is dead.
    package var alternative: String?
    // The same of that interface; where it is unknown, it meets no condition.
    package var isAlternativeWiFi = false
    package var isAlternativeWired = false
    package var isAlternativeExpensive = true
    package var isAlternativeConstrained = true
    /// Whether nothing at all may use an expensive network, or one on which data is to be saved.
    package var avoidsExpense = false
    package var avoidsConstraint = false
    /// The way around that line; nil where ``isDetoured`` is not set.
    package var detour: Detour?
    /// Whether the internet was found behind the path; nil without a probe.
    package var hasInternet: Bool?
    /// What was found behind each uplink where there is no internet, for a person.
    package var internetSentence = ""
    /// Why the path is usable or not, for a person.
    package var sentence = ""
    /// Grows whenever earlier connections should no longer be trusted.
    package var generation: UInt64 = 0

    package init(_ standing: Standing, sentence: String = "") {
        self.standing = standing
        self.sentence = sentence
    }

    /// Before the first report.
    package static var unknown: NetworkFacts { NetworkFacts(.unknown) }

    /// What a usable path meets.
    ///
    /// - Parameter isBound: over the alternative.
    package func met(isBound: Bool) -> DemandSet {
        var met: DemandSet = []
        for index in 0..<UInt8(NetworkDemand.count) {
            let demand = NetworkDemand(index: index)
            if meets(demand, isBound: isBound) { met.insert(DemandSet(demand)) }
        }
        return met
    }

    private func meets(_ demand: NetworkDemand, isBound: Bool) -> Bool {
        guard demand.needsNetwork else { return true }
        // A probe knows that also where no provider reports the network.
        if demand.needsInternet, hasInternet == false { return false }
        guard standing != .unknown else { return true }
        return unaffordable(demand, isBound: isBound) == nil && fits(demand.medium, isBound: isBound)
    }

    /// The condition of cost that the network does not meet; nil for none.
    func unaffordable(_ demand: NetworkDemand, isBound: Bool) -> NetworkCondition? {
        if demand.avoidsExpense || avoidsExpense, !fits(.notExpensive, isBound: isBound) {
            return .notExpensive
        }
        let isSaved = demand.avoidsConstraint || avoidsConstraint
        return isSaved && !fits(.notConstrained, isBound: isBound) ? .notConstrained : nil
    }

    /// Whether the medium is one that the condition names.
    func fits(_ condition: NetworkCondition, isBound: Bool) -> Bool {
        switch condition {
        case .any: true
        case .wifiOrWired:
            fits(.wiredOnly, isBound: isBound) || (isBound ? isAlternativeWiFi : isWiFi)
        case .wiredOnly: isBound ? isAlternativeWired : isWired
        case .notExpensive: !(isBound ? isAlternativeExpensive : isExpensive)
        case .notConstrained: !(isBound ? isAlternativeConstrained : isConstrained)
        case .internet: hasInternet != false
        }
    }
}
