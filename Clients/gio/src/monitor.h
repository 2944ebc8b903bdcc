/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GNetworkMonitor whose values are those of Reach's service.
 *
 * As GLib's own it belongs to the thread-default main context of the thread that made it: signals are emitted
 * there. Properties may be read, and g_network_monitor_can_reach() be called, in any thread.
 */
#ifndef GIOREACH_MONITOR_H
#define GIOREACH_MONITOR_H

#include <gio/gio.h>

/*
 * How long a service may take for its first answer, in milliseconds. It is asked while
 * g_network_monitor_get_default() waits; where no service is, it fails at once.
 */
#define REACH_MONITOR_START_LIMIT_MS 1000

/*
 * How long the last word of a service that is away counts, in milliseconds: longer than a restart takes. Then
 * GLib's own monitor is asked until the service is back.
 */
#define REACH_MONITOR_HOLD_MS 5000

/*
 * GLib's own: portals of sandboxes 40, NetworkManager 30, systemd-networkd 25 (GLib 2.90), netlink 20,
 * none 0. That for systemd-networkd never fails to start, so this one has to be before it.
 */
#define REACH_MONITOR_PRIORITY 28

#define REACH_TYPE_NETWORK_MONITOR (reach_network_monitor_get_type())
G_DECLARE_FINAL_TYPE(ReachNetworkMonitor, reach_network_monitor, REACH, NETWORK_MONITOR, GObject)

/* Makes the type known to GObject, and to GIO's extension point. */
void reach_network_monitor_register(GTypeModule *module);

#endif
