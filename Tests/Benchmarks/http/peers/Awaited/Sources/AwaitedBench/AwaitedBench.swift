// SPDX-License-Identifier: Apache-2.0

// awaited-bench get URL N CONCURRENCY
// Nothing but a continuation between the reference's loop and tasks on Swift's default executor: no client
// that resumes tasks there can need less.
import Glibc
import Lean
import Synchronization

@main struct AwaitedBench {
    private static let left = Atomic<Int>(0)
    private static let good = Atomic<Int>(0)

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, arguments[1] == "get", let requests = Int(arguments[3]),
            let concurrency = Int(arguments[4])
        else {
            print("usage: get URL N CONCURRENCY")
            exit(64)
        }
        left.store(requests, ordering: .relaxed)
        await run(arguments[2], concurrency)
        let good = good.load(ordering: .relaxed)
        print("ok=\(good) failed=\(requests - good) bytes=\(lean_bytes())")
        exit(good == requests ? 0 : 1)
    }

    @concurrent private static func run(_ url: String, _ concurrency: Int) async {
        let hasStarted = lean_start(concurrency) { @Sendable context, succeeded in
            unsafeBitCast(context, to: UnsafeContinuation<Bool, Never>.self).resume(returning: succeeded)
        }
        guard hasStarted else { exit(71) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<concurrency {
                let transfer = Transfer(address: lean_transfer_make(url))
                group.addTask {
                    while left.subtract(1, ordering: .relaxed).newValue >= 0 {
                        if await transfer.succeeds() { good.add(1, ordering: .relaxed) }
                    }
                }
            }
        }
    }
}

/// One transfer, used by one task at a time; unchecked because the compiler cannot know that.
private struct Transfer: @unchecked Sendable {
    let address: OpaquePointer

    func succeeds() async -> Bool {
        await withUnsafeContinuation {
            lean_send(address, unsafeBitCast($0, to: UnsafeMutableRawPointer.self))
        }
    }
}
