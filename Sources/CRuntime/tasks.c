// SPDX-License-Identifier: Apache-2.0
#include "CRuntime.h"

#define SWIFT_CALL __attribute__((swiftcall))

// A hook of libswift_Concurrency (ConcurrencyHooks.h), called with every job that no executor of the program
// takes.
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, void *original);

// Its second parameter is a SerialExecutorRef, two words; zeros are the generic one (Executor.h).
extern SWIFT_CALL void swift_job_run(void *job, void *identity, size_t implementation);

static void (*taker)(void *job);

static SWIFT_CALL void take(void *job, void *original) {
    (void)original;
    taker(job);
}

void cruntime_redirect_jobs(void (*enqueue)(void *job)) {
    taker = enqueue;
    swift_task_enqueueGlobal_hook = take;
}

void cruntime_run_job(void *job) { swift_job_run(job, NULL, 0); }
