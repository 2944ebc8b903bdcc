/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the service's interface as enumerations, and its times. */
#ifndef REACH_WORDS_H
#define REACH_WORDS_H

#include "json.h"

reach_status word_status(const char *word);
reach_internet word_internet(const char *word);
reach_metered word_metered(const char *word);
reach_medium word_medium(const char *word);
reach_reason word_reason(const char *word);
reach_router word_router(const char *word);
reach_outcome word_outcome(const char *word);
reach_failure word_failure(const char *word);
reach_change word_change(const char *word);
reach_event word_event(const char *word);

/* The word of a goal; NULL if there is none. */
const char *word_of_goal(reach_goal goal);

/*
 * A time in RFC 3339, such as "2026-11-26T12:00:00.125Z", in milliseconds since 1970; false, and *unix_ms as
 * it was, if it is none.
 */
bool time_read(const char *text, int64_t *unix_ms);

#endif
