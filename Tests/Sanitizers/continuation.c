// SPDX-License-Identifier: Apache-2.0
//
// Tells the thread sanitizer that a task goes on after the call that resumed its continuation.
//
// Swift's runtime does so where the task waits already and is enqueued. Where it was resumed before it
// came to wait, swift_continuation_await goes on at once (the toolchain's Task.cpp), and no order is
// declared: what the task does next, for instance using the same memory for something else, is reported
// as a race with what the resuming thread did before. So the function with which it goes on is replaced
// there (LD_PRELOAD) by one that declares the order first, with the address that
// swift_continuation_resume has released: the task's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))

// The beginning of swift::ContinuationAsyncContext.
struct context {
    struct context *parent;
    // Called on the same thread, by swift_continuation_await alone: a task that is enqueued has a copy.
    ASYNC void (*next)(CONTEXT struct context *);
    size_t flags;
};

// AsyncContinuationFlags: it goes on by another way, perhaps on another thread; made for Objective-C alone.
enum { SWITCHES_EXECUTOR = 1 << 3 };

// The test program contains the sanitizer's run-time library; other programs that inherit the preload do not.
extern void __tsan_acquire(void *) __attribute__((weak));
extern __attribute__((swiftcall)) void *swift_task_getCurrent(void) __attribute__((weak));

static _Thread_local struct context waiting;

static ASYNC void go_on(CONTEXT struct context *context) {
    if (waiting.parent != context) {
        fprintf(stderr, "Tests/Sanitizers/continuation.c: this toolchain goes on otherwise\n");
        abort();
    }
    context->next = waiting.next;
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return context->next(context);
}

ASYNC void swift_continuation_await(struct context *context);

ASYNC void swift_continuation_await(struct context *context) {
    ASYNC void (*await)(struct context *) = (ASYNC void (*)(struct context *))dlsym(RTLD_NEXT, "swift_continuation_await");
    if (!await) {
        fprintf(stderr, "Tests/Sanitizers/continuation.c: this toolchain has no swift_continuation_await\n");
        abort();
    }
    if (__tsan_acquire && !(context->flags & SWITCHES_EXECUTOR)) {
        waiting = (struct context){.parent = context, .next = context->next};
        context->next = go_on;
    }
    __attribute__((musttail)) return await(context);
}
