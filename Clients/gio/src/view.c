/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

NetworkFacts network_facts(const reach_report *report)
{
    return (NetworkFacts){
        .status = reach_report_status(report),
        .online = reach_report_is_online(report),
        .expensive = reach_report_is_expensive(report),
        .internet = reach_report_internet(report),
        .generation = reach_report_generation(report),
        .interface = reach_report_interface(report),
        .source = reach_report_source(report),
        .gateway = reach_report_gateway(report),
    };
}

void network_view_clear(NetworkView *view) { g_clear_pointer(&view->path, g_free); }

static char *path_of(const NetworkFacts *facts)
{
    return g_strdup_printf(
        "%s %s %s", facts->interface ? facts->interface : "", facts->source ? facts->source : "",
        facts->gateway ? facts->gateway : "");
}

/*
 * Without a probe every path counts as full, as in GLib's own monitor. With one a path is limited until the
 * probe has answered, so that a program does not send its requests to a captive portal; if the path is the
 * former one, the former state holds.
 */
static GNetworkConnectivity
connectivity_of(reach_internet internet, gboolean same_path, GNetworkConnectivity former)
{
    switch (internet) {
    case REACH_INTERNET_UNKNOWN:
        return same_path && former != G_NETWORK_CONNECTIVITY_LOCAL ? former : G_NETWORK_CONNECTIVITY_LIMITED;
    case REACH_INTERNET_NONE:
    case REACH_INTERNET_LIMITED: return G_NETWORK_CONNECTIVITY_LIMITED;
    case REACH_INTERNET_PORTAL: return G_NETWORK_CONNECTIVITY_PORTAL;
    default: return G_NETWORK_CONNECTIVITY_FULL;
    }
}

static NetworkViewChange
set_properties(NetworkView *view, gboolean available, gboolean metered, GNetworkConnectivity connectivity)
{
    gboolean same =
        !view->available == !available && !view->metered == !metered && view->connectivity == connectivity;
    view->available = available;
    view->metered = metered;
    view->connectivity = connectivity;
    return same ? NETWORK_VIEW_SAME : NETWORK_VIEW_CHANGED;
}

NetworkViewChange network_view_update(NetworkView *view, const NetworkFacts *facts, gboolean first)
{
    gboolean reachable =
        facts->status == REACH_STATUS_OTHER ? facts->online : facts->status != REACH_STATUS_UNREACHABLE;
    if (facts->status == REACH_STATUS_UNKNOWN) return NETWORK_VIEW_UNKNOWN;
    if (!reachable) {
        g_free(view->path);
        view->path = g_strdup("");
        view->generation = facts->generation;
        return set_properties(view, FALSE, FALSE, G_NETWORK_CONNECTIVITY_LOCAL);
    }
    if (!facts->online) {
        /* A loss that may be over in a moment is no change; the status follows in 500 ms if it is not. */
        if (view->path) return NETWORK_VIEW_SAME;
        view->path = g_strdup("");
        view->generation = facts->generation;
        return set_properties(view, TRUE, facts->expensive, G_NETWORK_CONNECTIVITY_LIMITED);
    }

    char *path = path_of(facts);
    gboolean same_path = g_strcmp0(view->path, path) == 0;
    gboolean moved = !same_path || (!first && view->generation != facts->generation);
    g_free(view->path);
    view->path = path;
    view->generation = facts->generation;
    NetworkViewChange change = set_properties(
        view, TRUE, facts->expensive, connectivity_of(facts->internet, same_path, view->connectivity));
    return change == NETWORK_VIEW_SAME && moved ? NETWORK_VIEW_MOVED : change;
}

NetworkViewChange
network_view_update_without_service(NetworkView *view, gboolean available, GNetworkConnectivity connectivity)
{
    return set_properties(view, available, available && view->metered, connectivity);
}

static gboolean link_can_send(const reach_link *link)
{
    switch (reach_link_reason_code(link)) {
    case REACH_REASON_LINK_DOWN:
    case REACH_REASON_NO_PORTS:
    case REACH_REASON_BRIDGE_PORT:
    case REACH_REASON_DROPPED:
    case REACH_REASON_NO_ADDRESS:
    case REACH_REASON_TUNNEL_WITHOUT_UNDERLAY: return reach_link_is_online(link);
    default: return TRUE;
    }
}

gboolean network_report_has_link(const reach_report *report)
{
    for (size_t i = 0; i < reach_report_link_count(report); i++)
        if (link_can_send(reach_report_link(report, i))) return TRUE;
    return FALSE;
}
