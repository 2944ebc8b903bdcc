// SPDX-License-Identifier: Apache-2.0
// memrchr(3).
#define _GNU_SOURCE
#include "CCurl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ccurl_head {
    char *bytes;
    size_t count, capacity, limit;
    const int64_t *now;
    int64_t first, last;
    ccurl_head_function function;
    void *user;
    // Of trailers since the head; libcurl keeps them all.
    size_t trailers;
    // Between a status line and the empty line that ends its head.
    bool inside;
};

// A larger buffer is rarely needed, and released with the next head.
enum { ORDINARY_CAPACITY = 8 << 10 };

ccurl_head *ccurl_head_make(const int64_t *now, size_t limit, ccurl_head_function function) {
    ccurl_head *head = calloc(1, sizeof *head);
    if (head) *head = (ccurl_head){.limit = limit, .now = now, .function = function};
    return head;
}

void ccurl_head_free(ccurl_head *head) {
    if (head) free(head->bytes);
    free(head);
}

static void clear(ccurl_head *head) {
    head->count = 0;
    if (head->capacity <= ORDINARY_CAPACITY) return;
    free(head->bytes);
    head->bytes = 0;
    head->capacity = 0;
}

void ccurl_head_restart(ccurl_head *head) {
    head->inside = false;
    head->first = 0;
    head->last = *head->now;
    clear(head);
}

int64_t ccurl_head_first(const ccurl_head *head) { return head->first; }

int64_t ccurl_head_last(const ccurl_head *head) { return head->last; }

static bool append(ccurl_head *head, const char *line, size_t count) {
    if (count > head->limit - head->count) return false;
    if (count > head->capacity - head->count) {
        size_t capacity = head->capacity ? head->capacity * 2 : 512;
        while (capacity < head->count + count) capacity *= 2;
        char *bytes = realloc(head->bytes, capacity);
        if (!bytes) return false;
        head->bytes = bytes;
        head->capacity = capacity;
    }
    memcpy(head->bytes + head->count, line, count);
    head->count += count;
    return true;
}

// Has a folded line continue the one before, behind spaces (RFC 9112 §5.2); one behind the status line
// becomes part of the reason, which nothing reads (§2.2).
//
// That of Transfer-Encoding stays as it came: libcurl 7.88 has read its first line alone.
static void unfold(ccurl_head *head) {
    char *end = head->bytes + head->count - 1;
    const char *before = memrchr(head->bytes, '\n', head->count - 1);
    if (*end != '\n' || (before && strncasecmp(before + 1, "Transfer-Encoding:", 18) == 0)) return;
    if (end[-1] == '\r') end[-1] = ' ';
    *end = ' ';
}

static bool is_empty(const char *line, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (line[i] != '\r' && line[i] != '\n') return false;
    return count <= 2;
}

// CURLOPT_HEADERFUNCTION(3): one whole line each time.
static size_t line_came(char *line, size_t size, size_t number, void *user) {
    ccurl_head *head = user;
    size_t count = size * number;
    head->last = *head->now;
    if (!head->first) head->first = head->last;
    // Upper or lower case, as libcurl accepts it (checkhttpprefix, lib/http.c); `StatusLine` refuses all but
    // capitals.
    bool begins = count > 8 && line[4] == '/' && strncasecmp(line, "HTTP/", 5) == 0;
    // Trailers come after the head, also after content without a byte, and are ignored within the limit.
    if (!head->inside && !begins) {
        if (count <= head->limit - head->trailers) {
            head->trailers += count;
            return count;
        }
        head->function(head->user, 0, 0);
        return 0;
    }
    if (begins) {
        head->inside = true;
        head->trailers = 0;
        clear(head);
    } else if (is_empty(line, count)) {
        head->inside = false;
        return head->function(head->user, head->bytes, head->count) ? count : 0;
    }
    if (*line == ' ' || *line == '\t') unfold(head);
    if (append(head, line, count)) return count;
    head->inside = false;
    head->function(head->user, 0, 0);
    return 0;
}

CURLcode ccurl_set_head(CURL *easy, ccurl_head *head, void *user) {
    head->user = user;
    CURLcode code = ccurl_set_pointer(easy, CURLOPT_HEADERDATA, head);
    return code ? code : ccurl_set_data_function(easy, CURLOPT_HEADERFUNCTION, line_came);
}
