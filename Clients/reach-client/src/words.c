/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

/* The texts lie in the tables, so that no pointer is relocated when the library is loaded. */
struct word {
    char word[23];
    signed char value;
};

/* The value of a word; missing for NULL, 127 for an unknown one. */
static int look_up(const struct word *words, size_t count, const char *word, int missing)
{
    if (!word) return missing;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i].word, word) == 0) return words[i].value;
    }
    return 127;
}

#define LOOK_UP(words, word, missing) look_up(words, sizeof words / sizeof *words, word, missing)

reach_status word_status(const char *word)
{
    static const struct word words[] = {
        {"unknown", REACH_STATUS_UNKNOWN},
        {"unreachable", REACH_STATUS_UNREACHABLE},
        {"wifi", REACH_STATUS_WIFI},
        {"wired", REACH_STATUS_WIRED},
    };
    return (reach_status)LOOK_UP(words, word, REACH_STATUS_UNKNOWN);
}

reach_internet word_internet(const char *word)
{
    static const struct word words[] = {
        {"unknown", REACH_INTERNET_UNKNOWN}, {"none", REACH_INTERNET_NONE},
        {"limited", REACH_INTERNET_LIMITED}, {"portal", REACH_INTERNET_PORTAL},
        {"full", REACH_INTERNET_FULL},
    };
    return (reach_internet)LOOK_UP(words, word, REACH_INTERNET_NOT_PROBED);
}

reach_metered word_metered(const char *word)
{
    static const struct word words[] = {
        {"unknown", REACH_METERED_UNKNOWN},
        {"yes", REACH_METERED_YES},
        {"no", REACH_METERED_NO},
        {"guess-yes", REACH_METERED_GUESS_YES},
        {"guess-no", REACH_METERED_GUESS_NO},
    };
    return (reach_metered)LOOK_UP(words, word, REACH_METERED_UNKNOWN);
}

reach_medium word_medium(const char *word)
{
    static const struct word words[] = {
        {"ethernet", REACH_MEDIUM_ETHERNET}, {"wifi", REACH_MEDIUM_WIFI},
        {"cellular", REACH_MEDIUM_CELLULAR}, {"tunnel", REACH_MEDIUM_TUNNEL},
        {"bridge", REACH_MEDIUM_BRIDGE},     {"bond", REACH_MEDIUM_BOND},
        {"vlan", REACH_MEDIUM_VLAN},         {"virtual", REACH_MEDIUM_VIRTUAL},
        {"loopback", REACH_MEDIUM_LOOPBACK},
    };
    return (reach_medium)LOOK_UP(words, word, REACH_MEDIUM_NONE);
}

reach_reason word_reason(const char *word)
{
    static const struct word words[] = {
        {"defaultRoute", REACH_REASON_DEFAULT_ROUTE},
        {"hostRoute", REACH_REASON_HOST_ROUTE},
        {"local", REACH_REASON_LOCAL},
        {"noRoute", REACH_REASON_NO_ROUTE},
        {"noAddress", REACH_REASON_NO_ADDRESS},
        {"linkLocalOnly", REACH_REASON_LINK_LOCAL_ONLY},
        {"linkDown", REACH_REASON_LINK_DOWN},
        {"noPorts", REACH_REASON_NO_PORTS},
        {"bridgePort", REACH_REASON_BRIDGE_PORT},
        {"dropped", REACH_REASON_DROPPED},
        {"prohibited", REACH_REASON_PROHIBITED},
        {"blackhole", REACH_REASON_BLACKHOLE},
        {"unreachableRoute", REACH_REASON_UNREACHABLE_ROUTE},
        {"tunnelWithoutUnderlay", REACH_REASON_TUNNEL_WITHOUT_UNDERLAY},
        {"unresolved", REACH_REASON_UNRESOLVED},
        {"notMonitoring", REACH_REASON_NOT_MONITORING},
        {"kernelRefused", REACH_REASON_KERNEL_REFUSED},
    };
    return (reach_reason)LOOK_UP(words, word, REACH_REASON_NONE);
}

reach_router word_router(const char *word)
{
    static const struct word words[] = {
        {"unknown", REACH_ROUTER_UNKNOWN},
        {"answers", REACH_ROUTER_ANSWERS},
        {"silent", REACH_ROUTER_SILENT}};
    return (reach_router)LOOK_UP(words, word, REACH_ROUTER_UNKNOWN);
}

reach_outcome word_outcome(const char *word)
{
    static const struct word words[] = {
        {"delivered", REACH_OUTCOME_DELIVERED}, {"expired", REACH_OUTCOME_EXPIRED},
        {"dropped", REACH_OUTCOME_DROPPED},     {"removed", REACH_OUTCOME_REMOVED},
        {"dead", REACH_OUTCOME_DEAD},           {"replaced", REACH_OUTCOME_REPLACED},
    };
    return (reach_outcome)LOOK_UP(words, word, REACH_OUTCOME_NONE);
}

reach_failure word_failure(const char *word)
{
    static const struct word words[] = {
        {"network", REACH_FAILURE_NETWORK},       {"server", REACH_FAILURE_SERVER},
        {"refused", REACH_FAILURE_REFUSED},       {"security", REACH_FAILURE_SECURITY},
        {"secret", REACH_FAILURE_SECRET},         {"credentials", REACH_FAILURE_CREDENTIALS},
        {"unsendable", REACH_FAILURE_UNSENDABLE}, {"local", REACH_FAILURE_LOCAL},
    };
    return (reach_failure)LOOK_UP(words, word, REACH_FAILURE_NONE);
}

reach_change word_change(const char *word)
{
    static const struct word words[] = {
        {"present", REACH_CHANGE_PRESENT}, {"ready", REACH_CHANGE_READY},
        {"changed", REACH_CHANGE_CHANGED}, {"progress", REACH_CHANGE_PROGRESS},
        {"dead", REACH_CHANGE_DEAD},       {"left", REACH_CHANGE_LEFT},
    };
    return (reach_change)LOOK_UP(words, word, REACH_CHANGE_NONE);
}

reach_event word_event(const char *word)
{
    static const struct word words[] = {
        {"initial", REACH_EVENT_INITIAL},
        {"status", REACH_EVENT_STATUS},
        {"path", REACH_EVENT_PATH},
        {"internet", REACH_EVENT_INTERNET},
    };
    return (reach_event)LOOK_UP(words, word, REACH_EVENT_OTHER);
}

const char *word_of_goal(reach_goal goal)
{
    switch (goal) {
    case REACH_GOAL_REACHABLE: return "reachable";
    case REACH_GOAL_UNREACHABLE: return "unreachable";
    case REACH_GOAL_WIFI: return "wifi";
    case REACH_GOAL_WIRED: return "wired";
    case REACH_GOAL_INTERNET: return "internet";
    }
    return NULL;
}

/* So many digits as a number; -1 if they are none. */
static int64_t digits(const char *text, int count)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/*
 * The days from 1970-01-01 to a day of the Gregorian calendar; March begins a year, so that February is its
 * end.
 */
static int64_t days(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719468;
}

bool time_read(const char *text, int64_t *unix_ms)
{
    if (!text || strnlen(text, 20) < 20) return false;
    if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return false;
    int64_t year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    int64_t hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
    const char *rest = text + 19;
    int64_t fraction = 0, unit = 100;
    if (*rest == '.') {
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10) fraction += (*rest - '0') * unit;
    }
    if (strcmp(rest, "Z") != 0) return false;
    *unix_ms = (((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction;
    return true;
}
