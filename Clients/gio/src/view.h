/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GNetworkMonitor says, decided from what the service reports. Pure: no socket, no clock, no object.
 */
#ifndef GIOREACH_VIEW_H
#define GIOREACH_VIEW_H

#include <gio/gio.h>
#include <reach-client.h>

/* The members of a report that the view depends on. Texts belong to the report. */
typedef struct {
    reach_status status;
    gboolean online;
    gboolean expensive;
    reach_internet internet;
    gint64 generation;
    const char *interface;
    const char *source;
    const char *gateway;
} NetworkFacts;

NetworkFacts network_facts(const reach_report *report);

/* The values of the three properties, and which path they are about. */
typedef struct {
    gboolean available;
    gboolean metered;
    GNetworkConnectivity connectivity;
    /* The path, "" if there is none; NULL before the first report. */
    char *path;
    gint64 generation;
} NetworkView;

void network_view_clear(NetworkView *view);

/* What a report does to a view. */
typedef enum {
    /* Nothing that a program has to hear of. */
    NETWORK_VIEW_SAME,
    /* The properties are the same; the path is another, or was interrupted for a moment. */
    NETWORK_VIEW_MOVED,
    /* At least one of the properties is another. */
    NETWORK_VIEW_CHANGED,
    /* The service does not know how things are; the view stays as it is. */
    NETWORK_VIEW_UNKNOWN
} NetworkViewChange;

/*
 * Takes a report into the view.
 *
 * first: the first report of a service that was not there before, whose generations cannot be compared with
 * earlier ones.
 */
NetworkViewChange network_view_update(NetworkView *view, const NetworkFacts *facts, gboolean first);

/*
 * Takes what GLib's own monitor says into the view, while the service is away. A network that was metered
 * stays so until it is gone: nothing has said that its traffic is free.
 */
NetworkViewChange
network_view_update_without_service(NetworkView *view, gboolean available, GNetworkConnectivity connectivity);

/*
 * Whether an interface has a carrier and an address, so that a packet could leave the machine at all. Without
 * one no name server answers.
 */
gboolean network_report_has_link(const reach_report *report);

#endif
