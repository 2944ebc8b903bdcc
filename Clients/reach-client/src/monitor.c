/* SPDX-License-Identifier: Apache-2.0 */
/* Following the status. */
#include <string.h>

#include "client.h"

int reach_client_monitor(reach_client *client, unsigned flags, reach_monitor_callback callback, void *data)
{
    if (!client || flags & ~REACH_MONITOR_STATUS_ONLY) return REACH_ERROR_INVALID_ARGUMENT;
    const char *parameters = flags & REACH_MONITOR_STATUS_ONLY ? "{\"statusOnly\":true}" : "{}";
    struct peer *peer = peer_new("io.reach.Reachability.Monitor", parameters, strlen(parameters));
    if (!peer) return REACH_ERROR_NO_MEMORY;
    peer->changed = callback;
    peer->data = data;
    pthread_mutex_lock(&client->lock);
    if (client->monitor) {
        pthread_mutex_unlock(&client->lock);
        peer_free(peer);
        return REACH_ERROR_INVALID_ARGUMENT;
    }
    peer->id = ++client->last_id;
    line_begin(&peer->line, LINE_MONITOR, LINE_NEVER, client_now());
    client->monitor = peer;
    client_arm(client);
    pthread_mutex_unlock(&client->lock);
    return 0;
}

void reach_client_stop_monitor(reach_client *client)
{
    if (!client) return;
    pthread_mutex_lock(&client->lock);
    struct peer *peer = client->monitor;
    client->monitor = NULL;
    reach_reply *events = client->events, *latest = client->latest;
    client->events = client->latest = NULL;
    client->events_end = &client->events;
    client->lacks_memory = false;
    if (peer) client_await(client, peer->id);
    client_arm(client);
    pthread_mutex_unlock(&client->lock);
    peer_free(peer);
    reach_reply_unref(latest);
    while (events) {
        reach_reply *next = events->next;
        reach_reply_unref(events);
        events = next;
    }
}

const reach_report *reach_client_report(const reach_client *client)
{
    reach_client *own = (reach_client *)client;
    if (!client) return NULL;
    pthread_mutex_lock(&own->lock);
    const reach_report *report = reach_report_ref(reach_reply_report(own->latest));
    pthread_mutex_unlock(&own->lock);
    return report;
}

reach_connection reach_client_connection(const reach_client *client)
{
    reach_client *own = (reach_client *)client;
    reach_connection connection = REACH_CONNECTION_NONE;
    if (!client) return connection;
    pthread_mutex_lock(&own->lock);
    if (own->latest) connection = REACH_CONNECTION_PRESENT;
    else if (own->monitor && own->monitor->line.reported) connection = REACH_CONNECTION_AWAY;
    else if (own->monitor) connection = REACH_CONNECTION_STARTING;
    pthread_mutex_unlock(&own->lock);
    return connection;
}

void reach_client_retry_now(reach_client *client)
{
    if (!client) return;
    pthread_mutex_lock(&client->lock);
    int64_t now = client_now();
    if (client->monitor) line_hurry(&client->monitor->line, now);
    for (struct peer *peer = client->calls; peer; peer = peer->next) line_hurry(&peer->line, now);
    client_arm(client);
    pthread_mutex_unlock(&client->lock);
}
