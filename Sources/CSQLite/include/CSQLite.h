// SPDX-License-Identifier: Apache-2.0
// SQLite's functions, opened with the first database: a program that links this starts without SQLite until
// it needs it.
//
// The prototypes are SQLite's own (its ABI is stable since 3.0), so that building needs no headers of it. All
// calls but csqlite_load and csqlite_load_message need csqlite_load to have returned CSQLITE_LOADED.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

// The oldest tested version, 3.40.
enum { CSQLITE_MINIMUM_VERSION = 3040000 };

// Result codes (sqlite.org/rescode.html); the low byte of an extended code is its primary code.
enum {
    CSQLITE_OK = 0,
    CSQLITE_ERROR = 1,
    CSQLITE_PERM = 3,
    CSQLITE_BUSY = 5,
    CSQLITE_LOCKED = 6,
    CSQLITE_NOMEM = 7,
    CSQLITE_READONLY = 8,
    CSQLITE_IOERR = 10,
    CSQLITE_CORRUPT = 11,
    CSQLITE_FULL = 13,
    CSQLITE_CANTOPEN = 14,
    CSQLITE_CONSTRAINT = 19,
    CSQLITE_AUTH = 23,
    CSQLITE_NOTADB = 26,
    CSQLITE_ROW = 100,
    CSQLITE_DONE = 101,
    CSQLITE_IOERR_SHMSIZE = CSQLITE_IOERR | 19 << 8,
};

// Column types (sqlite.org/c3ref/c_blob.html).
enum { CSQLITE_INTEGER = 1, CSQLITE_FLOAT = 2, CSQLITE_TEXT = 3, CSQLITE_BLOB = 4, CSQLITE_NULL = 5 };

// The first six are those of cloader_result.
typedef enum {
    CSQLITE_LOADED,
    CSQLITE_NOT_FOUND,
    CSQLITE_SYMBOL_MISSING,
    CSQLITE_TOO_OLD,
    CSQLITE_NO_RESOURCES,  // the library may exist: descriptors were short
    CSQLITE_NO_MEMORY,     // the library exists: memory or address space was short
} csqlite_load_result;

// Opens SQLite, once for the process, and again after a failure; called from any thread.
csqlite_load_result csqlite_load(void);
// The reason of this thread's last failure.
const char *csqlite_load_message(void);

// Opens an existing file, by its path or a URI (sqlite.org/uri.html), for one thread at a time
// (SQLITE_OPEN_NOMUTEX); extended result codes are on.
int csqlite_open(const char *name, bool writes, bool is_uri, sqlite3 **database);
int csqlite_close(sqlite3 *database);
int csqlite_busy_timeout(sqlite3 *database, int milliseconds);
int csqlite_exec(sqlite3 *database, const char *sql);
int csqlite_extended_code(sqlite3 *database);
// The errno(3) of the last failure to open, read or write (sqlite.org/c3ref/system_errno.html).
int csqlite_system_errno(sqlite3 *database);
const char *csqlite_message(sqlite3 *database);
const char *csqlite_code_text(int code);
bool csqlite_is_in_transaction(sqlite3 *database);
int64_t csqlite_last_row(sqlite3 *database);
int csqlite_changes(sqlite3 *database);

// `keeps` hints that the statement will be used often (SQLITE_PREPARE_PERSISTENT).
int csqlite_prepare(sqlite3 *database, const char *sql, int count, bool keeps, sqlite3_stmt **statement, const char **tail);
int csqlite_step(sqlite3_stmt *statement);
int csqlite_reset(sqlite3_stmt *statement);
int csqlite_finalize(sqlite3_stmt *statement);
// Clears the bound values.
int csqlite_clear(sqlite3_stmt *statement);
int csqlite_parameter_count(sqlite3_stmt *statement);
int csqlite_bind_null(sqlite3_stmt *statement, int index);
int csqlite_bind_int(sqlite3_stmt *statement, int index, int64_t value);
int csqlite_bind_double(sqlite3_stmt *statement, int index, double value);
// Text and bytes are copied.
int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, size_t count);
int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t count);
int csqlite_column_count(sqlite3_stmt *statement);
const char *csqlite_column_name(sqlite3_stmt *statement, int column);
int csqlite_column_type(sqlite3_stmt *statement, int column);
int64_t csqlite_column_int(sqlite3_stmt *statement, int column);
double csqlite_column_double(sqlite3_stmt *statement, int column);
// The bytes are valid until the next step or reset.
const unsigned char *csqlite_column_text(sqlite3_stmt *statement, int column);
const void *csqlite_column_blob(sqlite3_stmt *statement, int column);
int csqlite_column_bytes(sqlite3_stmt *statement, int column);
