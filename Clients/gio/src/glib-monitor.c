/* SPDX-License-Identifier: Apache-2.0 */
#include "glib-monitor.h"

GNetworkMonitor *glib_monitor_new(void)
{
    static const char *const names[] = {"netlink", "base"};
    GIOExtensionPoint *point = g_io_extension_point_lookup(G_NETWORK_MONITOR_EXTENSION_POINT_NAME);
    for (gsize i = 0; point && i < G_N_ELEMENTS(names); i++) {
        GIOExtension *extension = g_io_extension_point_get_extension_by_name(point, names[i]);
        gpointer monitor =
            extension ? g_initable_new(g_io_extension_get_type(extension), NULL, NULL, NULL) : NULL;
        if (monitor) return monitor;
    }
    return NULL;
}
