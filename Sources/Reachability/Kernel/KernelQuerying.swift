// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Answers the questions of an evaluation, for one thread at a time: the kernel, a recording, or a fake.
package protocol KernelQuerying: AnyObject {
    /// The answers to the questions, in their order.
    ///
    /// A refusal is an answer (`.failure(errno)`); an error is thrown if there is no answer: `timedOut`, or
    /// `netlinkRefused` if the socket cannot be opened.
    func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer]

    /// The earlier answers that are still valid; evaluations use them without asking.
    var cache: KernelCache { get }

    /// Processes the events of one read: cached answers are those that they tell, or are asked again.
    func handle(_ events: [NetworkEvent])

    /// Whether a default route came or a link changed, and with it a lease other than in the answers so far.
    ///
    /// To be asked after an evaluation: looking at the files takes longer than to look up the route.
    func leasesHaveChanged() -> Bool

    /// Invalidates the answers about routes, because time has passed without an event.
    func forgetRoutes()
}

extension KernelQuerying {
    package func leasesHaveChanged() -> Bool { false }
}
