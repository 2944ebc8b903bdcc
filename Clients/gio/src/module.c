/* SPDX-License-Identifier: Apache-2.0 */
/* What GIO calls in a module; the names are made of the file's (see GIOModule). */
#include <gio/gio.h>

#include "monitor.h"

G_MODULE_EXPORT void g_io_reach_load(GIOModule *module);
G_MODULE_EXPORT void g_io_reach_unload(GIOModule *module);
G_MODULE_EXPORT char **g_io_reach_query(void);

void g_io_reach_load(GIOModule *module)
{
    /* It stays: its types cannot be unloaded while a monitor lives, which in most programs is for ever. */
    g_type_module_use(G_TYPE_MODULE(module));
    reach_network_monitor_register(G_TYPE_MODULE(module));
}

void g_io_reach_unload(GIOModule *module) { (void)module; }

/* For gio-querymodules(1), so that programs without a network monitor do not load the module. */
char **g_io_reach_query(void)
{
    char *points[] = {(char *)G_NETWORK_MONITOR_EXTENSION_POINT_NAME, NULL};
    return g_strdupv(points);
}
