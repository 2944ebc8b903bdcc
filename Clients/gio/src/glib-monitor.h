/* SPDX-License-Identifier: Apache-2.0 */
/* GLib's own monitor, for the time in which the service is away. */
#ifndef GIOREACH_GLIB_MONITOR_H
#define GIOREACH_GLIB_MONITOR_H

#include <gio/gio.h>

/*
 * A new instance of GLib's monitor for netlink, or where that cannot be had of the one that takes the network
 * for available; NULL if there is neither. Its signals are emitted in the calling thread's default main
 * context. Before GLib 2.90 it reads the whole routing table while it is made.
 */
GNetworkMonitor *glib_monitor_new(void);

#endif
