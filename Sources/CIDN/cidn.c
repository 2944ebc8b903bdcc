// SPDX-License-Identifier: Apache-2.0
#include "CIDN.h"
#include "CLoader.h"

#include <stdint.h>
#include <stdio.h>

CLOADER_NOTE(dlopen_note, "idn", "International names of hosts", "suggested", "libidn2.so.0")

// From idn2.h, so that building needs no headers of the library.
enum { IDN2_OK = 0, IDN2_NFC_INPUT = 1, IDN2_NONTRANSITIONAL = 8 };

static struct {
    int (*lookup_u8)(const uint8_t *, uint8_t **, int);
    const char *(*strerror)(int);
    void (*free)(void *);
} lib;

static int load(void) {
    cloader_message message;
    return cloader_open("libidn2.so.0", "idn2_lookup_u8\0idn2_strerror\0idn2_free\0", &lib, &message);
}

cidn_result cidn_lookup(const char *name, char *ascii, size_t size) {
    static cloader_state state = CLOADER_UNLOADED;
    if (cloader_run(&state, load) != CLOADER_LOADED) return CIDN_NO_LIBRARY;
    uint8_t *found = 0;
    int code = lib.lookup_u8((const uint8_t *)name, &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (code == IDN2_OK && found) {
        snprintf(ascii, size, "%s", (const char *)found);
    } else {
        snprintf(ascii, size, "%s", lib.strerror(code));
    }
    if (found) lib.free(found);
    return code == IDN2_OK ? CIDN_CONVERTED : CIDN_INVALID;
}
