// SPDX-License-Identifier: Apache-2.0
// The reference's loop on a thread of its own.
#ifndef LEAN_THREAD_H
#define LEAN_THREAD_H
#include <stdbool.h>

typedef struct lean_transfer lean_transfer;

// Starts the thread; `done` is called on it with a transfer's context and whether it was answered with 2xx.
// False where it cannot start.
bool lean_start(long concurrency, void (*_Nonnull done)(void *_Nonnull context, bool succeeded));
// A transfer of this URL, to be sent again and again, and never given back.
lean_transfer *_Nonnull lean_transfer_make(const char *_Nonnull url);
// Sends it; from any thread, not before it is done.
void lean_send(lean_transfer *_Nonnull transfer, void *_Nonnull context);
// The bytes of all contents; to be asked when nothing is under way.
long long lean_bytes(void);

#endif
