// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A value behind a lock, with waiting for a change (pthread_cond_wait(3)).
///
/// Unchecked because the compiler cannot see the lock: `value` is accessed only between lock and unlock of
/// `mutex`, and both live as long as the object.
package final class ConditionLock<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value
    private var waiting = 0

    package init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value; waiting threads then test their conditions again.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            if waiting > 0 { pthread_cond_broadcast(condition) }
            pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Waits until `condition` holds, without a limit.
    package func wait(until holds: (Value) -> Bool) {
        pthread_mutex_lock(mutex)
        waiting += 1
        while !holds(value) { pthread_cond_wait(condition, mutex) }
        waiting -= 1
        pthread_mutex_unlock(mutex)
    }
}
