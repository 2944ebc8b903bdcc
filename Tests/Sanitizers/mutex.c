// SPDX-License-Identifier: Apache-2.0
//
// Tells the thread sanitizer what a contended Synchronization.Mutex does.
//
// The compiler inlines the fast path of the mutex, one compare-and-exchange, into instrumented code, which the sanitizer
// sees. Where a thread has to wait or to wake another, the toolchain's libswiftSynchronization does that, and it is not
// instrumented: the sanitizer does not learn that the thread which waited comes after the one which unlocked, and calls
// what the mutex guards a data race. So these two functions stand in front of the library's slow paths (LD_PRELOAD),
// call them, and say in which order they bring the threads. Only the slow paths: on the fast path a report counts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Synchronization._MutexHandle._lockSlow(UInt32) -> () and ._unlockSlow() -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The sanitizer's run-time library is in the test program; in others that inherit the preload it is not.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

static void *original(const char *symbol) {
    void *function = dlsym(RTLD_NEXT, symbol);
    if (!function) {
        fprintf(stderr, "Tests/Sanitizers/mutex.c: this toolchain has no %s\n", symbol);
        abort();
    }
    return function;
}

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))original(LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((SWIFT void (*)(SELF))original(UNLOCK))(self);
}
