// SPDX-License-Identifier: Apache-2.0
// Parts of Swift's runtime that only C can reach: the program's arguments, and the executor of its tasks.
#pragma once
#include <stddef.h>

// The arguments as the C library passes them to constructors; 0 and NULL where it does not (musl).
int cruntime_argument_count(void);
char *const *cruntime_arguments(void);

// Passes every job that would go to libdispatch's pool to `enqueue`; for the whole process, once, before the
// first task.
void cruntime_redirect_jobs(void (*enqueue)(void *job));
// Runs such a job to its next suspension, on this thread.
void cruntime_run_job(void *job);

/// Sets up the C library's memory (mallopt(3)). Called first.
///
/// Blocks of 1 MiB and more are always mapped on their own, and go back to the kernel when they are freed:
/// otherwise glibc raises that size up to 32 MiB, and a table of 10,000 links costs 170 bytes a link more.
/// Where the address space is limited (RLIMIT_AS), all threads share one arena: each further one reserves
/// 64 MiB, and Swift ends the process where an allocation fails.
void cruntime_prepare_memory(void);
