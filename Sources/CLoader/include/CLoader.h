// SPDX-License-Identifier: Apache-2.0
// Opens libraries at run time, for the C targets whose program starts without its library until it needs it.
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CLOADER_LOADED = 0,
    // The library is missing or damaged.
    CLOADER_NOT_FOUND,
    // The library lacks a function.
    CLOADER_SYMBOL_MISSING,
    CLOADER_TOO_OLD,
    // Too few descriptors to look for the library (EMFILE, ENFILE).
    CLOADER_NO_RESOURCES,
    // The library exists and cannot be mapped: too little memory or address space.
    CLOADER_NO_MEMORY,
} cloader_result;

// What a caller reports of a failed load.
typedef struct {
    char text[512];
} cloader_message;

// Opens a library and finds its functions. `names` holds their names one after the other, each with its
// terminator, and ends with an empty one; their addresses go into `functions`, in this order. The library is
// never closed.
cloader_result cloader_open(const char *soname, const char *names, void *functions, cloader_message *message);

// Finds functions as cloader_open does; returns the first missing name, or NULL.
const char *cloader_find(void *handle, const char *names, void *functions);

// Why dlopen(3) failed, by dlerror(3) in the C locale: the loader reports the cause in words alone.
cloader_result cloader_explain(const char *message);

// The state of a load that is repeated until it succeeds.
typedef struct {
    pthread_mutex_t lock;
    int is_loaded;
} cloader_state;
#define CLOADER_UNLOADED {PTHREAD_MUTEX_INITIALIZER, 0}

// Calls `load` on one thread at a time until it has returned 0: descriptors may have been short for a moment,
// or the library be installed meanwhile. Returns what this call of `load` returned, or 0.
int cloader_run(cloader_state *state, int (*load)(void));

// Declares a note for packaging tools (`readelf -n`): a package has to depend on the library although the
// dynamic section does not list it (ELF .note.dlopen, UAPI specifications).
#define CLOADER_NOTE(variable, feature, description, priority, soname)                                             \
    CLOADER_NOTE_OF(variable, "[{\"feature\":\"" feature "\",\"description\":\"" description "\",\"priority\":\"" priority \
                              "\",\"soname\":[\"" soname "\"]}]")
#define CLOADER_NOTE_OF(variable, content)                                                                         \
    __attribute__((used, aligned(4), section(".note.dlopen"))) static const struct {                               \
        struct {                                                                                                   \
            uint32_t name_size, description_size, type;                                                            \
        } header;                                                                                                  \
        char name[4];                                                                                              \
        __attribute__((aligned(4))) char description[sizeof content];                                              \
    } variable = {{4, sizeof content, 0x407c0c0a}, "FDO", content};
