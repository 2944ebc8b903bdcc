// SPDX-License-Identifier: Apache-2.0
// What Swift's runtime offers to C alone: the program's arguments, and who runs its tasks.
#pragma once
#include <stddef.h>

// The arguments as the C library hands them to constructors; 0 and NULL where it does not (musl).
int cruntime_argument_count(void);
char *const *cruntime_arguments(void);

// Has `enqueue` called with every job that would go to the pool of libdispatch; for the whole process, once, before the first task.
void cruntime_take_jobs(void (*enqueue)(void *job));
// Runs such a job to its next suspension, on this thread.
void cruntime_run_job(void *job);
