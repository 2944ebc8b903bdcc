// SPDX-License-Identifier: Apache-2.0
// The reference of part outbox: what C on SQLite needs to store requests with the same promise.
//
// A request is on the disk when enqueue() returns. Tables, indices and settings are those of
// Storage/OutboxSchema.swift of Outbox and Database.swift of Storage, without what stays empty here.
// Callers at the same time share a transaction: the first of them stores the requests of all that have
// come meanwhile. Nothing is checked but errors: no limits, no other process, no clock.
//
//     outbox_sqlite enqueue FOLDER COUNT CALLERS    prints "enqueue COUNT MILLISECONDS", "written 1 BYTES"
//     outbox_sqlite leave FOLDER COUNT GROUP        the oldest so many leave, a group in a transaction
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const char settings[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -2048;"
    "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 250";
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL DEFAULT 0,"
    " lane TEXT NOT NULL, priority INTEGER NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL, condition INTEGER NOT NULL,"
    " key TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER,"
    " attempts INTEGER NOT NULL DEFAULT 0, next INTEGER NOT NULL DEFAULT 0, failure TEXT, reason TEXT, status INTEGER,"
    " refusals INTEGER NOT NULL DEFAULT 0, timeout INTEGER, tries INTEGER, unanswered INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX IF NOT EXISTS waiting ON entries (lane, id) WHERE state = 0;"
    "CREATE TABLE IF NOT EXISTS contents (id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,"
    " header TEXT NOT NULL, secrets TEXT NOT NULL, body BLOB, file TEXT) STRICT;"
    "CREATE TABLE IF NOT EXISTS lanes (name TEXT PRIMARY KEY, head INTEGER NOT NULL, priority INTEGER NOT NULL,"
    " condition INTEGER NOT NULL, host TEXT NOT NULL, next INTEGER NOT NULL, origin TEXT NOT NULL,"
    " gates TEXT NOT NULL DEFAULT '', opens INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS ready ON lanes (condition, priority DESC, head);"
    "CREATE INDEX IF NOT EXISTS due ON lanes (next);"
    "CREATE TABLE IF NOT EXISTS results (id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, status INTEGER,"
    " at INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS totals (one INTEGER PRIMARY KEY CHECK (one = 1), waiting INTEGER NOT NULL,"
    " dead INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;"
    "INSERT OR IGNORE INTO totals VALUES (1, 0, 0, 0)";

static const char *texts[] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "INSERT INTO entries (lane, priority, method, url, condition, key, size, created)"
    " VALUES (?, 0, 'POST', ?, 0, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
    "INSERT INTO contents VALUES (?, '', '', ?, NULL)",
    "INSERT INTO lanes VALUES (?, ?, 0, 0, '127.0.0.1', 0, 'http://127.0.0.1:1', '', 0) ON CONFLICT (name) DO NOTHING",
    "UPDATE totals SET waiting = waiting + ?, bytes = bytes + ?",
    "SELECT id, lane, size FROM entries WHERE id >= (SELECT min(head) FROM lanes) LIMIT 1",
    "DELETE FROM contents WHERE id = ?",
    "DELETE FROM entries WHERE id = ?",
    "INSERT INTO results VALUES (?, 'delivered', 204, ?)",
    "INSERT OR REPLACE INTO lanes SELECT lane, id, 0, 0, '127.0.0.1', 0, 'http://127.0.0.1:1', '', 0 FROM entries"
    " WHERE lane = ? AND state = 0 ORDER BY id LIMIT 1",
    "DELETE FROM lanes WHERE name = ? AND NOT EXISTS (SELECT 1 FROM entries WHERE lane = lanes.name AND state = 0)",
    "DELETE FROM results WHERE (at, id) < (SELECT at, id FROM results ORDER BY at DESC, id DESC LIMIT 1 OFFSET 999)",
};
enum { BEGIN, COMMIT, ENTRY, CONTENT, LANE, TOTAL, OLDEST, NO_CONTENT, NO_ENTRY, RESULT, NEXT, EMPTY, TRIM, STATEMENTS };

static sqlite3 *database;
static sqlite3_stmt *statements[STATEMENTS];

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static void run(int which) {
    int code = sqlite3_step(statements[which]);
    if (code != SQLITE_DONE && code != SQLITE_ROW) fail(texts[which]);
    sqlite3_reset(statements[which]);
}

static void text(int which, int at, const char *value) {
    sqlite3_bind_text(statements[which], at, value, -1, SQLITE_STATIC);
}

static void integer(int which, int at, int64_t value) { sqlite3_bind_int64(statements[which], at, value); }

static int64_t clock_now(clockid_t clock, int64_t parts) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * parts + t.tv_nsec / (1000000000 / parts);
}

static void opened(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/outbox.sqlite", folder);
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ||
        sqlite3_exec(database, settings, NULL, NULL, NULL) || sqlite3_exec(database, schema, NULL, NULL, NULL))
        fail(path);
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(database, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL)) fail(texts[i]);
}

struct request {
    char lane[16], url[64], key[40], body[64];
    bool is_stored;
    struct request *next;
};

static void make(struct request *request, long number) {
    uint64_t chance[2];
    if (getrandom(chance, sizeof chance, 0) != sizeof chance) fail("getrandom");
    snprintf(request->lane, sizeof request->lane, "lane-%ld", number % 10);
    snprintf(request->url, sizeof request->url, "http://127.0.0.1:1/samples/%ld", number);
    snprintf(request->body, sizeof request->body, "{\"value\":%ld,\"unit\":\"kWh\"}", number);
    // The time and 80 random bits.
    snprintf(request->key, sizeof request->key, "%012llx%04x%016llx", (long long)clock_now(CLOCK_REALTIME, 1000),
             (unsigned)(chance[0] & 0xFFFF), (unsigned long long)chance[1]);
    request->is_stored = false;
    request->next = NULL;
}

/// Stores a list of requests in one transaction.
static void store(struct request *first) {
    int64_t now = clock_now(CLOCK_REALTIME, 1000), count = 0, bytes = 0;
    run(BEGIN);
    for (struct request *r = first; r; r = r->next) {
        size_t size = strlen(r->body);
        text(ENTRY, 1, r->lane);
        text(ENTRY, 2, r->url);
        text(ENTRY, 3, r->key);
        integer(ENTRY, 4, (int64_t)size);
        integer(ENTRY, 5, now);
        run(ENTRY);
        int64_t id = sqlite3_last_insert_rowid(database);
        integer(CONTENT, 1, id);
        sqlite3_bind_blob(statements[CONTENT], 2, r->body, (int)size, SQLITE_STATIC);
        run(CONTENT);
        text(LANE, 1, r->lane);
        integer(LANE, 2, id);
        run(LANE);
        count++;
        bytes += (int64_t)size;
    }
    integer(TOTAL, 1, count);
    integer(TOTAL, 2, bytes);
    run(TOTAL);
    run(COMMIT);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stored = PTHREAD_COND_INITIALIZER;
static struct request *waiting;
static bool is_busy;

/// Returns when the request is on the disk.
static void enqueue(struct request *request) {
    pthread_mutex_lock(&lock);
    request->next = waiting;
    waiting = request;
    while (is_busy && !request->is_stored) pthread_cond_wait(&stored, &lock);
    if (!request->is_stored) {
        is_busy = true;
        struct request *mine = waiting, *next;
        waiting = NULL;
        pthread_mutex_unlock(&lock);
        store(mine);
        pthread_mutex_lock(&lock);
        for (; mine; mine = next) {
            next = mine->next;
            mine->is_stored = true;
        }
        is_busy = false;
        pthread_cond_broadcast(&stored);
    }
    pthread_mutex_unlock(&lock);
}

struct caller {
    long first, count;
};

static void *call(void *argument) {
    struct caller *caller = argument;
    for (long n = 0; n < caller->count; n++) {
        struct request request;
        make(&request, caller->first + n);
        enqueue(&request);
    }
    return NULL;
}

/// One after the other by each of the callers.
static void enqueue_all(long count, long callers) {
    struct caller parts[callers];
    pthread_t threads[callers];
    for (long n = 0; n < callers; n++) {
        parts[n] = (struct caller){n * (count / callers), count / callers};
        if (callers == 1) call(&parts[n]);
        else if (pthread_create(&threads[n], NULL, call, &parts[n])) fail("pthread_create");
    }
    for (long n = 0; callers > 1 && n < callers; n++) pthread_join(threads[n], NULL);
}

/// Removes the oldest, keeps that they have left, and renews their lanes.
static void leave_all(long count, long group) {
    for (long n = 0; n < count; n += group) {
        int64_t now = clock_now(CLOCK_REALTIME, 1000);
        run(BEGIN);
        for (long i = 0; i < group; i++) {
            if (sqlite3_step(statements[OLDEST]) != SQLITE_ROW) fail("too few");
            int64_t id = sqlite3_column_int64(statements[OLDEST], 0), size = sqlite3_column_int64(statements[OLDEST], 2);
            char lane[16];
            snprintf(lane, sizeof lane, "%s", (const char *)sqlite3_column_text(statements[OLDEST], 1));
            sqlite3_reset(statements[OLDEST]);
            integer(NO_CONTENT, 1, id);
            run(NO_CONTENT);
            integer(NO_ENTRY, 1, id);
            run(NO_ENTRY);
            integer(TOTAL, 1, -1);
            integer(TOTAL, 2, -size);
            run(TOTAL);
            integer(RESULT, 1, id);
            integer(RESULT, 2, now);
            run(RESULT);
            text(EMPTY, 1, lane);
            run(EMPTY);
            text(NEXT, 1, lane);
            run(NEXT);
        }
        if (n % 256 < group) run(TRIM);
        run(COMMIT);
    }
}

/// The bytes that this process has had written to disks (proc_pid_io(5)).
static long written(void) {
    char line[128];
    long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "write_bytes: %ld", &bytes);
    if (file) fclose(file);
    return bytes;
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "outbox_sqlite enqueue|leave FOLDER COUNT CALLERS|GROUP\n");
        return 64;
    }
    long number = atol(words[3]), parts = atol(words[4]);
    bool enqueues = !strcmp(words[1], "enqueue");
    if (number < 1 || parts < 1) return 64;
    opened(words[2]);
    long before = written();
    int64_t began = clock_now(CLOCK_MONOTONIC, 1000000000);
    if (enqueues) enqueue_all(number, parts);
    else leave_all(number, parts);
    double milliseconds = (double)(clock_now(CLOCK_MONOTONIC, 1000000000) - began) / 1e6;
    printf("%s %ld %.3f\nwritten 1 %ld\n", words[1], number, milliseconds, written() - before);
    return 0;
}
