// SPDX-License-Identifier: Apache-2.0
//
// Describes the synchronisation of a contended Synchronization.Mutex to the thread sanitizer.
//
// The compiler inlines the mutex's fast path, a compare-and-exchange, into instrumented code, which the
// sanitizer sees. A thread that has to wait or to wake another calls the toolchain's libswiftSynchronization,
// which is not instrumented: the sanitizer does not learn that the waiting thread comes after the unlocking
// one, and reports the guarded value as a data race. So these two functions replace the library's slow paths
// (LD_PRELOAD), call them, and declare the order of the threads. Only the slow paths: on the fast path a
// report counts.
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

// The test program contains the sanitizer's run-time library; other programs that inherit the preload do not.
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
