// SPDX-License-Identifier: Apache-2.0
#include "CIDN.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

// Readable by packaging tools, as in CCurl (ELF .note.dlopen, UAPI specifications).
#define DLOPEN_NOTE                                                                                                 \
    "[{\"feature\":\"idn\",\"description\":\"International names of hosts\",\"priority\":\"suggested\","           \
    "\"soname\":[\"libidn2.so.0\"]}]"
__attribute__((used, aligned(4), section(".note.dlopen"))) static const struct {
    struct {
        uint32_t name_size, description_size, type;
    } header;
    char name[4];
    __attribute__((aligned(4))) char description[sizeof DLOPEN_NOTE];
} dlopen_note = {{4, sizeof DLOPEN_NOTE, 0x407c0c0a}, "FDO", DLOPEN_NOTE};

// idn2.h, so that building needs no headers of it.
enum { IDN2_OK = 0, IDN2_NFC_INPUT = 1, IDN2_NONTRANSITIONAL = 8 };

static struct {
    int (*lookup_u8)(const uint8_t *, uint8_t **, int);
    const char *(*strerror)(int);
    void (*free)(void *);
} lib;

static void load(void) {
    void *handle = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    *(void **)&lib.strerror = dlsym(handle, "idn2_strerror");
    *(void **)&lib.free = dlsym(handle, "idn2_free");
    *(void **)&lib.lookup_u8 = dlsym(handle, "idn2_lookup_u8");
}

cidn_result cidn_lookup(const char *name, char *ascii, size_t size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    // It may be installed meanwhile.
    if (!lib.lookup_u8) load();
    pthread_mutex_unlock(&lock);
    if (!lib.lookup_u8 || !lib.strerror || !lib.free) return CIDN_NO_LIBRARY;
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
