/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the network's status and follows its changes:  cc status.c $(pkg-config --cflags --libs reach-client) */
#include <reach-client.h>
#include <stdio.h>

static const char *word(reach_status status)
{
    switch (status) {
    case REACH_STATUS_UNREACHABLE: return "unreachable";
    case REACH_STATUS_WIFI: return "wifi";
    case REACH_STATUS_WIRED: return "wired";
    default: return "unknown";
    }
}

static void changed(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    const reach_report *report = reach_reply_report(reply);
    (void)client;
    (void)data;
    if (event == REACH_EVENT_AWAY) {
        /* The client goes on trying; meanwhile the kernel itself can be asked. */
        printf("no service: %s\n", reach_reply_message(reply));
    } else {
        printf(
            "%s%s: %s\n", word(reach_report_status(report)),
            reach_report_is_online(report) ? "" : ", offline", reach_report_reason(report));
    }
    fflush(stdout);
}

int main(void)
{
    const reach_report *now;
    reach_client *client;
    if (reach_client_status_direct(&now) == 0) printf("the kernel says: %s\n", reach_report_reason(now));
    reach_report_unref(now);
    if (reach_client_new(&client, NULL) != 0) return 1;
    reach_client_monitor(client, 0, changed, NULL);
    while (reach_client_run_once(client, -1) >= 0) continue;
    reach_client_free(client);
    return 1;
}
