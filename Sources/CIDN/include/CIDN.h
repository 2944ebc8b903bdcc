// SPDX-License-Identifier: Apache-2.0
// Names in other letters than ASCII's, by libidn2: opened with the first of them.
#pragma once
#include <stddef.h>

typedef enum {
    CIDN_CONVERTED = 0,
    CIDN_NO_LIBRARY = 1,  // no libidn2.so.0
    CIDN_INVALID = 2,     // no name by IDNA 2008
} cidn_result;

// Writes the A-labels (RFC 5891) of a name in UTF-8, mapped by UTS #46 as browsers do it, into `ascii`; or why not. From any thread.
cidn_result cidn_lookup(const char *_Nonnull name, char *_Nonnull ascii, size_t size);
