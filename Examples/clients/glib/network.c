/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what GLib says of the network, and follows its changes:  cc network.c $(pkg-config --cflags --libs gio-2.0)
   With Reach's module of GIO installed (Debian's package reach-gio) that is what the service knows; without it GLib's own monitor. */
#include <gio/gio.h>

static void tell(GNetworkMonitor *monitor)
{
    static const char *const words[] = {"", "local", "limited", "portal", "full"};
    GNetworkConnectivity connectivity = g_network_monitor_get_connectivity(monitor);
    g_print(
        "%s, %s%s\n", g_network_monitor_get_network_available(monitor) ? "available" : "not available",
        connectivity < G_N_ELEMENTS(words) ? words[connectivity] : "unknown",
        g_network_monitor_get_network_metered(monitor) ? ", metered" : "");
}

static void changed(GNetworkMonitor *monitor, gboolean available, gpointer data)
{
    (void)available;
    (void)data;
    tell(monitor);
}

int main(void)
{
    GNetworkMonitor *monitor = g_network_monitor_get_default();
    g_print("%s\n", G_OBJECT_TYPE_NAME(monitor));
    g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
    tell(monitor);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
