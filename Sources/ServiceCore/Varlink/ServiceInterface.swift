// SPDX-License-Identifier: Apache-2.0

/// The interface of the service, in varlink's language: things are added, never changed or removed.
package enum ServiceInterface {
    package static let name = "io.reach.Reachability"

    package static let text = """
        # How the network can be reached, and requests that are sent when it can.
        #
        # A report is what 'reach status --json' prints. Statuses: unknown, unreachable, wifi, wired. Times are RFC 3339 in
        # UTC. Fields may be added; a reader ignores what it does not know.
        interface io.reach.Reachability

        # One interface of the machine and what it lacks. internet: what a server answers over it, where one is asked; since when,
        # and by what evidence. metered: whether its traffic costs: yes, guess-yes, guess-no, no, unknown. constrained: data is to be
        # saved on it. router: whether the next router answers (ARP, neighbour discovery): answers, silent, unknown. portal: where to sign
        # in.
        type Link (
          name: string,
          index: int,
          medium: string,
          online: bool,
          reason: string,
          addresses: []string,
          gateway: ?string,
          metric: ?int,
          reasonCode: string,
          internet: ?string,
          internetSince: ?string,
          internetReason: ?string,
          metered: string,
          roaming: bool,
          constrained: bool,
          router: ?string,
          portal: ?string
        )

        # A question to the kernel, its answer, and what follows.
        type Step (question: string, answer: string, conclusion: string, code: ?string)

        # A header field whose value is looked up when it is sent: source is env or file, key a variable or a path.
        type Secret (name: string, prefix: ?string, source: string, key: string)

        # A request of the outbox: state is one of waiting, dead, scheduled; a dead one is sent again only on request. The
        # url has no user and no password. hold: why it waits though its turn has come, its server refuses everything, or a gate is
        # held for instance. replaces: its name, of which the newest leaves; successor: the request that takes its place once it has
        # ended. notBefore, window, every (seconds), gates, tags: as it was enqueued.
        type Entry (
          id: string,
          lane: string,
          method: string,
          url: string,
          state: string,
          created: string,
          expires: ?string,
          idempotencyKey: string,
          attempts: int,
          nextAttempt: ?string,
          bytes: int,
          lastError: ?string,
          hold: ?string,
          replaces: ?string,
          tags: []string,
          notBefore: ?string,
          window: ?string,
          every: ?float,
          gates: []string,
          successor: ?string,
          file: ?string
        )

        # The beginning of a server's answer; the body as text, or in base64 where it is none.
        type Answer (statusCode: int, header: string, body: ?string, bodyBase64: ?string)

        # A gate that is held: what names it waits. until: when it is released by itself.
        type Gate (name: string, reason: string, since: string, until: ?string)

        # A time in which the status was the same; until is null for the present one. In between, no service ran.
        type Period (
          status: string,
          since: string,
          until: ?string,
          interface: ?string,
          reason: string
        )

        # The same for the state of the internet behind an uplink, or behind the path in use: without an interface.
        type LinePeriod (
          internet: string,
          since: string,
          until: ?string,
          interface: ?string,
          reason: string
        )

        # How things are at this instant. internetSentence: which line is dead, for how long, and which uplink transfers use instead; null
        # without a probe, and while there is nothing to tell.
        method GetStatus() -> (
          schema: int, status: string, since: ?string, interface: ?string, medium: ?string, online: bool,
          source: ?string, gateway: ?string, ssid: ?string, signalDBm: ?int, expensive: bool, tunnel: bool,
          generation: int, reason: string, alternative: ?string, links: []Link, internet: ?string,
          host: ?string, reasonCode: string, metric: ?int, families: []string, underlay: ?string,
          tunnelUnchecked: bool, partial: bool, stale: bool,
          portal: ?string, metered: string, roaming: bool, constrained: bool,
          internetSentence: ?string
        )

        # How things are, and then every change; to be called with 'more'. A caller that does not read gets the newest
        # change when it reads again, without those between. event: initial, status, path, internet: the state of the
        # internet behind the path or another link.
        method Monitor(statusOnly: ?bool) -> (
          schema: int, status: string, since: ?string, interface: ?string, medium: ?string, online: bool,
          source: ?string, gateway: ?string, ssid: ?string, signalDBm: ?int, expensive: bool, tunnel: bool,
          generation: int, reason: string, alternative: ?string, links: []Link, internet: ?string,
          event: string, previous: ?string,
          host: ?string, reasonCode: string, metric: ?int, families: []string, underlay: ?string,
          tunnelUnchecked: bool, partial: bool, stale: bool,
          portal: ?string, metered: string, roaming: bool, constrained: bool,
          internetSentence: ?string
        )

        # How things are and how that came about, asked afresh; for one host where one is given: a name or an address.
        method Explain(host: ?string) -> (
          schema: int, status: string, since: ?string, interface: ?string, medium: ?string, online: bool,
          source: ?string, gateway: ?string, ssid: ?string, signalDBm: ?int, expensive: bool, tunnel: bool,
          generation: int, reason: string, alternative: ?string, links: []Link, internet: ?string,
          host: ?string, reasonCode: string, metric: ?int, families: []string, underlay: ?string,
          tunnelUnchecked: bool, partial: bool, stale: bool,
          portal: ?string, metered: string, roaming: bool, constrained: bool,
          internetSentence: ?string, explain: []Step
        )

        # Returns when the goal (reachable, unreachable, wifi, wired, internet) has held for so many seconds, through the
        # interface where one is given; or with TimedOut. Without a timeout it waits for ever. interfaces: through one of them,
        # or through each with all. ignore: shell patterns of interfaces that do not count. With noCarrierTimeout it returns
        # NoCarrier when none of these interfaces has had a carrier for so many seconds. internet: what the probe says of the
        # path in use, or of an interface that is given, which is asked although its traffic costs; Unavailable without a probe.
        method Wait(
          goal: ?string, interface: ?string, stable: ?float, timeout: ?float,
          interfaces: ?[]string, all: ?bool, ignore: ?[]string, noCarrierTimeout: ?float
        ) -> (
          schema: int, status: string, since: ?string, interface: ?string, medium: ?string, online: bool,
          source: ?string, gateway: ?string, ssid: ?string, signalDBm: ?int, expensive: bool, tunnel: bool,
          generation: int, reason: string, alternative: ?string, links: []Link, internet: ?string,
          host: ?string, reasonCode: string, metric: ?int, families: []string, underlay: ?string,
          tunnelUnchecked: bool, partial: bool, stale: bool,
          portal: ?string, metered: string, roaming: bool, constrained: bool,
          internetSentence: ?string
        )

        # What the program that dials a modem knows of its interface: whether its traffic costs (metered: yes, guess-yes, guess-no, no,
        # unknown), and whether it is in the network of another provider. It holds until the next call for the interface, or until
        # the interface is gone; a call without both takes it back. The configuration of the service counts more. For root, the
        # user of the service, and the group that may use the outbox.
        method SetHint(interface: string, metered: ?string, roaming: ?bool) -> ()

        # What the status was since that time (24 hours ago where none is given), the newest last, at most limit periods. lines: the
        # same of the internet, one uplink after the other; empty where no server is asked.
        method GetHistory(since: ?string, limit: ?int) -> (periods: []Period, lines: []LinePeriod)

        # Puts a request into the outbox and returns when it is on the disk. The body is text, or base64 in bodyBase64.
        # network: any, wifiOrWired, wiredOnly, notExpensive, notConstrained, internet. repeated: one with this key was there, and nothing was added.
        # For root, the user of the service, and the configured group; with secrets, which are read with the rights of the
        # service, not for the group. answerTimeout: how many seconds the server may take for its answer, 0 for ever;
        # maximumAttempts: after so many failures it is given up. content: what AddContent was given, instead of a body.
        # replaces: a name, of which only the newest leaves; keep: it is not stored where one with the name waits (repeated).
        # replaced: the requests whose place it takes. notBefore: RFC 3339; window: a time of day, "22:00-06:00", "sat,sun 00:00-24:00";
        # spread: a random part of so many seconds is added to both; every: it is stored again with this period. gates: it waits while
        # one of them is held. BadRequest: these do not fit together, and the reason says what to do.
        method Enqueue(
          url: string, method: ?string, headers: ?[string]string, body: ?string, bodyBase64: ?string,
          lane: ?string, idempotencyKey: ?string, expiresIn: ?float, priority: ?int, network: ?string,
          secrets: ?[]Secret, answerTimeout: ?float, maximumAttempts: ?int,
          content: ?string, replaces: ?string, keep: ?bool, tags: ?[]string, notBefore: ?string,
          window: ?string, spread: ?float, every: ?float, gates: ?[]string
        ) -> (id: string, idempotencyKey: string, repeated: bool, replaced: []string)

        # Has a file fetched, with resume over restarts, and put in its place (file, an absolute path below outbox.fetch.folders) when it is
        # whole and has the SHA-256; mirrors: other URLs of it; mode: octal, "0644". Then hooks get the event fetched, and the request leaves.
        # The other parameters are those of Enqueue; the lane is "downloads" unless named.
        method EnqueueFetch(
          url: string, file: string, sha256: ?string, mirrors: ?[]string, mode: ?string, headers: ?[string]string,
          lane: ?string, idempotencyKey: ?string, expiresIn: ?float, priority: ?int, network: ?string,
          secrets: ?[]Secret, answerTimeout: ?float, maximumAttempts: ?int, replaces: ?string, keep: ?bool,
          tags: ?[]string, notBefore: ?string, window: ?string, spread: ?float, every: ?float, gates: ?[]string
        ) -> (id: string, idempotencyKey: string, repeated: bool, replaced: []string)

        # Hands over a content that is too long for one message (1 MiB), piece by piece, for the next Enqueue: the first answer names it, the
        # further pieces say that name. bytes: its length by now. It is forgotten a minute after its last piece.
        method AddContent(bodyBase64: string, content: ?string) -> (content: string, bytes: int)

        # The requests of the outbox, the oldest first; of one lane, with a tag, or whose last failure had a status, where these are
        # given. total counts all.
        method ListOutbox(lane: ?string, limit: ?int, tag: ?string, statusCode: ?int) -> (entries: []Entry, total: int)

        # Lets a request that was given up wait again, at its old place in its lane.
        method RetryOutbox(id: string) -> ()

        # Removes a request; what is being sent at this instant may still arrive.
        method RemoveOutbox(id: string) -> ()

        # The same for all that were given up, or those of a lane, with a tag or a status; ids: those that wait again.
        method RetryEntries(lane: ?string, tag: ?string, statusCode: ?int) -> (ids: []string)

        # Removes all requests of a lane, with a tag or a status; without any of these, all.
        method RemoveEntries(lane: ?string, tag: ?string, statusCode: ?int) -> (ids: []string)

        # Returns when a request was delivered, expired, dropped, removed, replaced by a newer one (successor), or given up (dead); or
        # with TimedOut, whose reason says why it still waits, and how much of it was sent.
        # failure: network, server, refused, security, secret, credentials, unsendable, local. answer: what the server said.
        method WaitOutbox(id: string, timeout: ?float) -> (
          outcome: string, statusCode: ?int, failure: ?string, lastError: ?string,
          successor: ?string, answer: ?Answer, file: ?string, bytes: ?int
        )

        # Holds a gate, for so many seconds or until ReleaseGate, also after a restart: requests that name it wait, with their lanes.
        method HoldGate(name: string, reason: ?string, for: ?float) -> ()

        # Releases a gate.
        method ReleaseGate(name: string) -> (wasHeld: bool)

        # The gates that are held.
        method ListGates() -> (gates: []Gate)

        # Follows a request to its end, or all of a lane or with a tag; to be called with 'more'. event: present (an entry, first), ready
        # (all that were there have been told), changed (another state, failure, time or hold), dead (given up; answer), progress (sent of total bytes), left
        # (outcome, successor, answer). Of one request the last reply is that it has left, or is dead. A caller that does not read is
        # told no progress, and LimitReached after 1 MiB. Of a lane or a tag the oldest thousand are followed.
        method MonitorOutbox(id: ?string, lane: ?string, tag: ?string) -> (
          event: string, id: ?string, entry: ?Entry, sent: ?int, total: ?int,
          outcome: ?string, statusCode: ?int, successor: ?string, answer: ?Answer, file: ?string, bytes: ?int
        )

        # Lets nothing more leave the outbox until ResumeOutbox, also after a restart.
        method PauseOutbox() -> ()

        # Ends the pause.
        method ResumeOutbox() -> ()

        # Has what waits for its next try sent as soon as its turn comes.
        method FlushOutbox() -> ()

        # The state directory of the service, in which the outbox lies.
        method GetOutboxDirectory() -> (directory: string)

        # A message that is no call; the connection is closed.
        error MalformedMessage (reason: string)
        # Too many clients, subscriptions, questions about the history, or bytes.
        error LimitReached (reason: string)
        # What was waited for did not come in time.
        error TimedOut (reason: string)
        # What was waited for cannot come: no interface has a carrier.
        error NoCarrier (reason: string)
        # The service runs without this part, or it does not work at this time.
        error Unavailable (reason: string)
        # This machine has no such interface.
        error NoSuchInterface (interface: string)
        # The outbox has no such request.
        error NoSuchEntry (id: string)
        # A request with this idempotency key waits, and it has another URL, method or content.
        error KeyTaken (reason: string)
        # Requests with this name wait in another lane.
        error NameTaken (reason: string)
        # What was asked of the outbox cannot be; the reason says what to do.
        error BadRequest (reason: string)

        """
}

/// The interface that every varlink service has (varlink.org/Service).
package enum IntrospectionInterface {
    package static let name = "org.varlink.service"

    package static let text = """
        # The Varlink Service Interface is provided by every varlink service. It
        # describes the service and the interfaces it implements.
        interface org.varlink.service

        # Get a list of all the interfaces a service provides and information
        # about the implementation.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # Get the description of an interface that is implemented by this service.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The requested interface was not found.
        error InterfaceNotFound (interface: string)

        # The requested method was not found
        error MethodNotFound (method: string)

        # The interface defines the requested method, but the service does not
        # implement it.
        error MethodNotImplemented (method: string)

        # One of the passed parameters is invalid.
        error InvalidParameter (parameter: string)

        # Client is denied access
        error PermissionDenied ()

        # Method is expected to be called with 'more' set to true, but wasn't
        error ExpectedMore ()

        """
}
