// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Answers the questions of an evaluation: the kernel, a recording, or a fake in a test.
///
/// Used by one thread at a time.
package protocol KernelQuerying: AnyObject {
    /// The answers, one for each question and in their order.
    ///
    /// What the kernel refuses is an answer (`.failure(errno)`); an error is thrown where it did not answer at all:
    /// `timedOut`, or `netlinkRefused` where the socket cannot be opened.
    func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer]

    /// What was said before and still holds; an evaluation takes it without asking.
    var cache: KernelCache { get }

    /// Learns what happened, so that remembered answers about links and addresses are asked again.
    func handle(_ event: NetworkEvent)

    /// Time has passed without an event: what was said about routes is asked again.
    func forgetRoutes()
}
