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

/// Where the address space is limited (RLIMIT_AS): one arena for all threads, as each further one reserves
/// 64 MiB (mallopt(3), M_ARENA_MAX), and Swift ends the process where an allocation fails. Called first.
void cruntime_spare_address_space(void);
