// SPDX-License-Identifier: Apache-2.0
#include "CLoader.h"
#include "CSQLite.h"

#include <stdio.h>

CLOADER_NOTE(dlopen_note, "storage", "outbox and history", "recommended", "libsqlite3.so.0")

// From sqlite3.h: bound values are copied (SQLITE_TRANSIENT); flags of sqlite3_open_v2 and
// sqlite3_prepare_v3.
#define TRANSIENT ((void (*)(void *)) - 1)
enum { OPEN_READONLY = 1, OPEN_READWRITE = 2, OPEN_URI = 0x40, OPEN_NOMUTEX = 0x8000, PREPARE_PERSISTENT = 1 };

typedef int row_callback(void *, int, char **, char **);

#define FUNCTIONS(X)                                                                                               \
    X(libversion, const char *, (void))                                                                            \
    X(libversion_number, int, (void))                                                                              \
    X(open_v2, int, (const char *, sqlite3 **, int, const char *))                                                 \
    X(close_v2, int, (sqlite3 *))                                                                                  \
    X(extended_result_codes, int, (sqlite3 *, int))                                                                \
    X(busy_timeout, int, (sqlite3 *, int))                                                                         \
    X(exec, int, (sqlite3 *, const char *, row_callback *, void *, char **))                                       \
    X(extended_errcode, int, (sqlite3 *))                                                                          \
    X(system_errno, int, (sqlite3 *))                                                                              \
    X(errmsg, const char *, (sqlite3 *))                                                                           \
    X(errstr, const char *, (int))                                                                                 \
    X(get_autocommit, int, (sqlite3 *))                                                                            \
    X(last_insert_rowid, int64_t, (sqlite3 *))                                                                     \
    X(changes, int, (sqlite3 *))                                                                                   \
    X(prepare_v3, int, (sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **))                   \
    X(step, int, (sqlite3_stmt *))                                                                                 \
    X(reset, int, (sqlite3_stmt *))                                                                                \
    X(finalize, int, (sqlite3_stmt *))                                                                             \
    X(clear_bindings, int, (sqlite3_stmt *))                                                                       \
    X(bind_parameter_count, int, (sqlite3_stmt *))                                                                 \
    X(bind_null, int, (sqlite3_stmt *, int))                                                                       \
    X(bind_int64, int, (sqlite3_stmt *, int, int64_t))                                                             \
    X(bind_double, int, (sqlite3_stmt *, int, double))                                                             \
    X(bind_text64, int, (sqlite3_stmt *, int, const char *, uint64_t, void (*)(void *), unsigned char))            \
    X(bind_blob64, int, (sqlite3_stmt *, int, const void *, uint64_t, void (*)(void *)))                           \
    X(column_count, int, (sqlite3_stmt *))                                                                         \
    X(column_name, const char *, (sqlite3_stmt *, int))                                                            \
    X(column_type, int, (sqlite3_stmt *, int))                                                                     \
    X(column_int64, int64_t, (sqlite3_stmt *, int))                                                                \
    X(column_double, double, (sqlite3_stmt *, int))                                                                \
    X(column_text, const unsigned char *, (sqlite3_stmt *, int))                                                   \
    X(column_blob, const void *, (sqlite3_stmt *, int))                                                            \
    X(column_bytes, int, (sqlite3_stmt *, int))

#define MEMBER(name, type, arguments) type(*name) arguments;
static struct {
    FUNCTIONS(MEMBER)
} lib;
#define NAME(name, type, arguments) "sqlite3_" #name "\0"

static _Thread_local cloader_message message;

_Static_assert((int)CSQLITE_NO_MEMORY == (int)CLOADER_NO_MEMORY, "results of cloader_open are passed on");

static int load(void) {
    cloader_result result = cloader_open("libsqlite3.so.0", FUNCTIONS(NAME), &lib, &message);
    if (result != CLOADER_LOADED || lib.libversion_number() >= CSQLITE_MINIMUM_VERSION) return result;
    snprintf(message.text, sizeof message.text, "SQLite %s is older than 3.40", lib.libversion());
    return CSQLITE_TOO_OLD;
}

csqlite_load_result csqlite_load(void) {
    static cloader_state state = CLOADER_UNLOADED;
    return cloader_run(&state, load);
}

const char *csqlite_load_message(void) { return message.text; }

int csqlite_open(const char *name, bool writes, bool is_uri, sqlite3 **database) {
    int flags = OPEN_NOMUTEX | (writes ? OPEN_READWRITE : OPEN_READONLY) | (is_uri ? OPEN_URI : 0);
    int code = lib.open_v2(name, database, flags, NULL);
    if (*database) lib.extended_result_codes(*database, 1);
    return code;
}
int csqlite_close(sqlite3 *database) { return lib.close_v2(database); }
int csqlite_busy_timeout(sqlite3 *database, int milliseconds) { return lib.busy_timeout(database, milliseconds); }
int csqlite_exec(sqlite3 *database, const char *sql) { return lib.exec(database, sql, NULL, NULL, NULL); }
int csqlite_extended_code(sqlite3 *database) { return lib.extended_errcode(database); }
int csqlite_system_errno(sqlite3 *database) { return lib.system_errno(database); }
const char *csqlite_message(sqlite3 *database) { return lib.errmsg(database); }
const char *csqlite_code_text(int code) { return lib.errstr(code); }
bool csqlite_is_in_transaction(sqlite3 *database) { return !lib.get_autocommit(database); }
int64_t csqlite_last_row(sqlite3 *database) { return lib.last_insert_rowid(database); }
int csqlite_changes(sqlite3 *database) { return lib.changes(database); }

int csqlite_prepare(sqlite3 *database, const char *sql, int count, bool keeps, sqlite3_stmt **statement,
                    const char **tail) {
    return lib.prepare_v3(database, sql, count, keeps ? PREPARE_PERSISTENT : 0, statement, tail);
}
int csqlite_step(sqlite3_stmt *statement) { return lib.step(statement); }
int csqlite_reset(sqlite3_stmt *statement) { return lib.reset(statement); }
int csqlite_finalize(sqlite3_stmt *statement) { return lib.finalize(statement); }
int csqlite_clear(sqlite3_stmt *statement) { return lib.clear_bindings(statement); }
int csqlite_parameter_count(sqlite3_stmt *statement) { return lib.bind_parameter_count(statement); }
int csqlite_bind_null(sqlite3_stmt *statement, int index) { return lib.bind_null(statement, index); }
int csqlite_bind_int(sqlite3_stmt *statement, int index, int64_t value) {
    return lib.bind_int64(statement, index, value);
}
int csqlite_bind_double(sqlite3_stmt *statement, int index, double value) {
    return lib.bind_double(statement, index, value);
}
int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, size_t count) {
    return lib.bind_text64(statement, index, text, count, TRANSIENT, 1 /* SQLITE_UTF8 */);
}
int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
    // A null pointer would bind NULL instead of an empty blob.
    return lib.bind_blob64(statement, index, bytes ? bytes : "", count, TRANSIENT);
}
int csqlite_column_count(sqlite3_stmt *statement) { return lib.column_count(statement); }
const char *csqlite_column_name(sqlite3_stmt *statement, int column) {
    const char *name = lib.column_name(statement, column);
    return name ? name : "";
}
int csqlite_column_type(sqlite3_stmt *statement, int column) { return lib.column_type(statement, column); }
int64_t csqlite_column_int(sqlite3_stmt *statement, int column) { return lib.column_int64(statement, column); }
double csqlite_column_double(sqlite3_stmt *statement, int column) { return lib.column_double(statement, column); }
const unsigned char *csqlite_column_text(sqlite3_stmt *statement, int column) {
    return lib.column_text(statement, column);
}
const void *csqlite_column_blob(sqlite3_stmt *statement, int column) { return lib.column_blob(statement, column); }
int csqlite_column_bytes(sqlite3_stmt *statement, int column) { return lib.column_bytes(statement, column); }
