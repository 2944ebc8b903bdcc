// SPDX-License-Identifier: Apache-2.0
// A GLib program that knows nothing of Reach: prints what its GNetworkMonitor says, a line for each property
// and signal.
//   network-monitor [--thread]
// Commands on standard input, one a line:
//   state                    the properties
//   can-reach HOST           what g_network_monitor_can_reach() answers for port 443 of a name or an address
//   can-reach-async HOST     the same, asynchronously
//   can-reach-cancel HOST    asynchronously, and cancelled at once
//   can-reach-cancel-later HOST  asynchronously, and cancelled a moment later
//   can-reach-path PATH      for a Unix socket
// With --thread the monitor is made in a thread with a main context of its own. A line about another thread
// than the maker's says so.
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>
#include <string.h>

static GThread *owner;
static GMainLoop *loop;

static const char *word(gboolean value) { return value ? "yes" : "no"; }

static const char *connectivity(GNetworkMonitor *monitor)
{
    switch (g_network_monitor_get_connectivity(monitor)) {
    case G_NETWORK_CONNECTIVITY_LOCAL: return "local";
    case G_NETWORK_CONNECTIVITY_LIMITED: return "limited";
    case G_NETWORK_CONNECTIVITY_PORTAL: return "portal";
    case G_NETWORK_CONNECTIVITY_FULL: return "full";
    default: return "invalid";
    }
}

static void print_state(const char *kind, GNetworkMonitor *monitor)
{
    printf(
        "%s available=%s metered=%s connectivity=%s%s\n", kind,
        word(g_network_monitor_get_network_available(monitor)),
        word(g_network_monitor_get_network_metered(monitor)), connectivity(monitor),
        owner == g_thread_self() ? "" : " in another thread");
    fflush(stdout);
}

static void notified(GObject *object, GParamSpec *property, gpointer unused)
{
    (void)unused;
    char *kind = g_strdup_printf("notify::%s", property->name);
    print_state(kind, G_NETWORK_MONITOR(object));
    g_free(kind);
}

static void changed(GNetworkMonitor *monitor, gboolean available, gpointer unused)
{
    (void)unused;
    print_state(available ? "network-changed(yes)" : "network-changed(no)", monitor);
}

static void print_answer(const char *name, gboolean reachable, GError *error)
{
    if (error)
        printf(
            "%s: %s %s %d: %s\n", name, word(reachable), g_quark_to_string(error->domain), error->code,
            error->message);
    else printf("%s: %s\n", name, word(reachable));
    fflush(stdout);
    g_clear_error(&error);
}

static void answered(GObject *object, GAsyncResult *result, gpointer name)
{
    GError *error = NULL;
    gboolean reachable = g_network_monitor_can_reach_finish(G_NETWORK_MONITOR(object), result, &error);
    print_answer(name, reachable, error);
    g_free(name);
}

static gboolean cancel(gpointer cancellable)
{
    g_cancellable_cancel(cancellable);
    return G_SOURCE_REMOVE;
}

static void obey(GNetworkMonitor *monitor, const char *line)
{
    char *host = g_strdup(strchr(line, ' ') ? strchr(line, ' ') + 1 : "");
    GSocketConnectable *target = g_str_has_prefix(line, "can-reach-path ")
                                     ? G_SOCKET_CONNECTABLE(g_unix_socket_address_new(host))
                                     : g_network_address_new(host, 443);
    if (g_str_equal(line, "state")) {
        print_state("state", monitor);
    } else if (g_str_has_prefix(line, "can-reach ") || g_str_has_prefix(line, "can-reach-path ")) {
        GError *error = NULL;
        gboolean reachable = g_network_monitor_can_reach(monitor, target, NULL, &error);
        print_answer(host, reachable, error);
    } else if (g_str_has_prefix(line, "can-reach-async ")) {
        g_network_monitor_can_reach_async(monitor, target, NULL, answered, g_strdup(host));
    } else if (g_str_has_prefix(line, "can-reach-cancel ")) {
        GCancellable *cancellable = g_cancellable_new();
        g_network_monitor_can_reach_async(monitor, target, cancellable, answered, g_strdup(host));
        g_cancellable_cancel(cancellable);
        g_object_unref(cancellable);
    } else if (g_str_has_prefix(line, "can-reach-cancel-later ")) {
        GCancellable *cancellable = g_cancellable_new();
        g_network_monitor_can_reach_async(monitor, target, cancellable, answered, g_strdup(host));
        GSource *source = g_timeout_source_new(100);
        g_source_set_callback(source, cancel, cancellable, g_object_unref);
        g_source_attach(source, g_main_context_get_thread_default());
        g_source_unref(source);
    }
    g_object_unref(target);
    g_free(host);
}

static gboolean readable(GIOChannel *input, GIOCondition condition, gpointer monitor)
{
    (void)condition;
    char *line = NULL;
    gsize end = 0;
    if (g_io_channel_read_line(input, &line, NULL, &end, NULL) != G_IO_STATUS_NORMAL) {
        g_main_loop_quit(loop);
        return G_SOURCE_REMOVE;
    }
    line[end] = 0;
    obey(monitor, line);
    g_free(line);
    return G_SOURCE_CONTINUE;
}

static gpointer run(gpointer context)
{
    if (context) g_main_context_push_thread_default(context);
    owner = g_thread_self();
    GNetworkMonitor *monitor = g_network_monitor_get_default();
    printf("glib %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
    printf("type %s\n", G_OBJECT_TYPE_NAME(monitor));
    print_state("state", monitor);
    g_signal_connect(monitor, "notify", G_CALLBACK(notified), NULL);
    g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);

    GIOChannel *input = g_io_channel_unix_new(0);
    GSource *source = g_io_create_watch(input, G_IO_IN | G_IO_HUP);
    g_source_set_callback(source, G_SOURCE_FUNC(readable), monitor, NULL);
    g_source_attach(source, context);
    loop = g_main_loop_new(context, FALSE);
    g_main_loop_run(loop);

    g_source_destroy(source);
    g_source_unref(source);
    g_io_channel_unref(input);
    g_main_loop_unref(loop);
    g_signal_handlers_disconnect_by_func(monitor, notified, NULL);
    g_signal_handlers_disconnect_by_func(monitor, changed, NULL);
    // The last reference but GIO's own: a checker of memory wants to see the monitor finalized.
    g_object_unref(monitor);
    if (context) g_main_context_pop_thread_default(context);
    return NULL;
}

int main(int count, char **arguments)
{
    if (count > 1 && g_str_equal(arguments[1], "--thread")) {
        GMainContext *context = g_main_context_new();
        g_thread_join(g_thread_new("monitor", run, context));
        g_main_context_unref(context);
    } else {
        run(NULL);
    }
    return 0;
}
