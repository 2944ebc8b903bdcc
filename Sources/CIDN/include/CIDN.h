// SPDX-License-Identifier: Apache-2.0
// International host names, by libidn2, which is opened with the first of them.
#pragma once
#include <stddef.h>

typedef enum {
    CIDN_CONVERTED = 0,
    CIDN_NO_LIBRARY = 1,  // no libidn2.so.0
    CIDN_INVALID = 2,  // not valid by IDNA 2008
} cidn_result;

// Writes the A-labels (RFC 5891) of a name in UTF-8, mapped by UTS #46 as browsers do, into `ascii`; on
// failure the reason. From any thread.
cidn_result cidn_lookup(const char *_Nonnull name, char *_Nonnull ascii, size_t size);
