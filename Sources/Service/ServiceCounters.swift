// SPDX-License-Identifier: Apache-2.0

/// What the parts of the service count for the metrics; on the loop's thread only.
package final class ServiceCounters {
    package var hookRuns: UInt64 = 0
    package var hookFailures: UInt64 = 0
    package var hooksSkipped: UInt64 = 0
    package var historySkipped: UInt64 = 0
    package var linesLeftOut: UInt64 = 0

    package init() {}
}
