/* SPDX-License-Identifier: Apache-2.0 */
/* What programs read of reports, their links and their steps. */
#include "reply.h"
#include "words.h"

static const reach_value *value_of(const reach_report *report)
{
    return report ? report->reply->parameters : NULL;
}

static const char *text_of(const reach_report *report, const char *name)
{
    return json_text(value_of(report), name);
}

static bool flag_of(const reach_report *report, const char *name)
{
    return json_flag(value_of(report), name);
}

static const char *or_empty(const char *text) { return text ? text : ""; }

const reach_report *reach_report_ref(const reach_report *report)
{
    if (report) reach_reply_ref(report->reply);
    return report;
}

void reach_report_unref(const reach_report *report)
{
    if (report) reach_reply_unref(report->reply);
}

const char *reach_report_json(const reach_report *report, size_t *length)
{
    return reach_reply_json(report ? report->reply : NULL, length);
}

const reach_value *reach_report_value(const reach_report *report) { return value_of(report); }

reach_status reach_report_status(const reach_report *report)
{
    return word_status(text_of(report, "status"));
}

bool reach_report_is_online(const reach_report *report) { return flag_of(report, "online"); }

bool reach_report_since(const reach_report *report, int64_t *unix_ms)
{
    int64_t none;
    return time_read(text_of(report, "since"), unix_ms ? unix_ms : &none);
}

const char *reach_report_reason(const reach_report *report) { return or_empty(text_of(report, "reason")); }

reach_reason reach_report_reason_code(const reach_report *report)
{
    return word_reason(text_of(report, "reasonCode"));
}

const char *reach_report_interface(const reach_report *report) { return text_of(report, "interface"); }

reach_medium reach_report_medium(const reach_report *report)
{
    return word_medium(text_of(report, "medium"));
}

const char *reach_report_source(const reach_report *report) { return text_of(report, "source"); }

const char *reach_report_gateway(const reach_report *report) { return text_of(report, "gateway"); }

const char *reach_report_ssid(const reach_report *report) { return text_of(report, "ssid"); }

int reach_report_signal_dbm(const reach_report *report)
{
    int64_t signal = json_integer(value_of(report), "signalDBm");
    return signal < -1000 || signal > 1000 ? 0 : (int)signal;
}

bool reach_report_is_expensive(const reach_report *report) { return flag_of(report, "expensive"); }

reach_metered reach_report_metered(const reach_report *report)
{
    return word_metered(text_of(report, "metered"));
}

bool reach_report_is_roaming(const reach_report *report) { return flag_of(report, "roaming"); }

bool reach_report_is_constrained(const reach_report *report) { return flag_of(report, "constrained"); }

bool reach_report_is_tunnel(const reach_report *report) { return flag_of(report, "tunnel"); }

const char *reach_report_underlay(const reach_report *report) { return text_of(report, "underlay"); }

static bool has_family(const reach_report *report, char digit)
{
    const reach_value *families = reach_value_member(value_of(report), "families");
    for (size_t i = 0; i < reach_value_count(families); i++) {
        const char *family = reach_value_string(reach_value_at(families, i), NULL);
        if (family && family[0] == 'i' && family[1] == 'p' && family[2] == 'v' && family[3] == digit)
            return true;
    }
    return false;
}

bool reach_report_has_ipv4(const reach_report *report) { return has_family(report, '4'); }

bool reach_report_has_ipv6(const reach_report *report) { return has_family(report, '6'); }

int64_t reach_report_generation(const reach_report *report)
{
    return json_integer(value_of(report), "generation");
}

const char *reach_report_alternative(const reach_report *report) { return text_of(report, "alternative"); }

bool reach_report_is_stale(const reach_report *report) { return flag_of(report, "stale"); }

reach_internet reach_report_internet(const reach_report *report)
{
    return word_internet(text_of(report, "internet"));
}

const char *reach_report_internet_sentence(const reach_report *report)
{
    return text_of(report, "internetSentence");
}

const char *reach_report_portal(const reach_report *report) { return text_of(report, "portal"); }

const char *reach_report_host(const reach_report *report) { return text_of(report, "host"); }

reach_status reach_report_previous(const reach_report *report)
{
    return word_status(text_of(report, "previous"));
}

/* An element of an array of objects. */
static const reach_value *element_of(const reach_report *report, const char *name, size_t index)
{
    const reach_value *found = reach_value_at(reach_value_member(value_of(report), name), index);
    return reach_value_type(found) == REACH_TYPE_OBJECT ? found : NULL;
}

static size_t count_of(const reach_report *report, const char *name)
{
    const reach_value *array = reach_value_member(value_of(report), name);
    return reach_value_type(array) == REACH_TYPE_ARRAY ? reach_value_count(array) : 0;
}

/* A link and a step are values: their types exist for the compiler alone. */
static const reach_value *of_link(const reach_link *link) { return (const reach_value *)link; }

static const reach_value *of_step(const reach_step *step) { return (const reach_value *)step; }

size_t reach_report_link_count(const reach_report *report) { return count_of(report, "links"); }

const reach_link *reach_report_link(const reach_report *report, size_t index)
{
    return (const reach_link *)element_of(report, "links", index);
}

const char *reach_link_name(const reach_link *link) { return or_empty(json_text(of_link(link), "name")); }

int reach_link_index(const reach_link *link)
{
    int64_t index = json_integer(of_link(link), "index");
    return index < 0 || index > INT32_MAX ? 0 : (int)index;
}

reach_medium reach_link_medium(const reach_link *link)
{
    return word_medium(json_text(of_link(link), "medium"));
}

bool reach_link_is_online(const reach_link *link) { return json_flag(of_link(link), "online"); }

const char *reach_link_reason(const reach_link *link) { return or_empty(json_text(of_link(link), "reason")); }

reach_reason reach_link_reason_code(const reach_link *link)
{
    return word_reason(json_text(of_link(link), "reasonCode"));
}

size_t reach_link_address_count(const reach_link *link)
{
    return reach_value_count(reach_value_member(of_link(link), "addresses"));
}

const char *reach_link_address(const reach_link *link, size_t index)
{
    return reach_value_string(reach_value_at(reach_value_member(of_link(link), "addresses"), index), NULL);
}

const char *reach_link_gateway(const reach_link *link) { return json_text(of_link(link), "gateway"); }

reach_metered reach_link_metered(const reach_link *link)
{
    return word_metered(json_text(of_link(link), "metered"));
}

bool reach_link_is_roaming(const reach_link *link) { return json_flag(of_link(link), "roaming"); }

bool reach_link_is_constrained(const reach_link *link) { return json_flag(of_link(link), "constrained"); }

reach_internet reach_link_internet(const reach_link *link)
{
    return word_internet(json_text(of_link(link), "internet"));
}

bool reach_link_internet_since(const reach_link *link, int64_t *unix_ms)
{
    int64_t none;
    return time_read(json_text(of_link(link), "internetSince"), unix_ms ? unix_ms : &none);
}

const char *reach_link_internet_reason(const reach_link *link)
{
    return json_text(of_link(link), "internetReason");
}

reach_router reach_link_router(const reach_link *link)
{
    return word_router(json_text(of_link(link), "router"));
}

const char *reach_link_portal(const reach_link *link) { return json_text(of_link(link), "portal"); }

const reach_value *reach_link_value(const reach_link *link) { return of_link(link); }

size_t reach_report_step_count(const reach_report *report) { return count_of(report, "explain"); }

const reach_step *reach_report_step(const reach_report *report, size_t index)
{
    return (const reach_step *)element_of(report, "explain", index);
}

const char *reach_step_question(const reach_step *step)
{
    return or_empty(json_text(of_step(step), "question"));
}

const char *reach_step_answer(const reach_step *step) { return or_empty(json_text(of_step(step), "answer")); }

const char *reach_step_conclusion(const reach_step *step)
{
    return or_empty(json_text(of_step(step), "conclusion"));
}
