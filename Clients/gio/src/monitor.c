/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor.h"

#include <glib-unix.h>
#include <reach-client.h>

#include "glib-monitor.h"
#include "host-check.h"
#include "view.h"

struct _ReachNetworkMonitor {
    GObject parent_instance;

    GMainContext *context;
    reach_client *client;
    GSource *client_source;
    /* What came during a dispatch: whether the service is there, and its newest report. */
    gboolean heard;
    gboolean present;
    gboolean first;
    const reach_report *report;
    /* Runs while the last word of a service that is away counts. */
    GSource *hold_source;
    /* Answers when that time is over; NULL otherwise. */
    GNetworkMonitor *glib;

    /* Belongs to the context; other threads read `properties`. */
    NetworkView view;
    /* The three properties in one word, so that no thread reads half a change. */
    gint properties;
};

enum { PROPERTY_NONE, PROPERTY_NETWORK_AVAILABLE, PROPERTY_NETWORK_METERED, PROPERTY_CONNECTIVITY };

static guint network_changed_signal;

static void network_monitor_interface_init(GNetworkMonitorInterface *interface);
static void initable_interface_init(GInitableIface *interface);

G_DEFINE_DYNAMIC_TYPE_EXTENDED(
    ReachNetworkMonitor, reach_network_monitor, G_TYPE_OBJECT, 0,
    /* The first is a prerequisite of the second. */
    G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_INITABLE, initable_interface_init)
        G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_NETWORK_MONITOR, network_monitor_interface_init))

/* ----------------------------------------------------------------------------------------- what is said */

static gint packed(const NetworkView *view)
{
    return (view->available ? 1 : 0) | (view->metered ? 2 : 0) | (gint)view->connectivity << 2;
}

/* Passes a change of the view to the program: the properties first, all of them, then the signal. */
static void publish(ReachNetworkMonitor *monitor, NetworkViewChange change)
{
    if (change != NETWORK_VIEW_CHANGED && change != NETWORK_VIEW_MOVED) return;
    gint now = packed(&monitor->view);
    gint before = g_atomic_int_get(&monitor->properties);
    g_atomic_int_set(&monitor->properties, now);
    GObject *object = g_object_ref(G_OBJECT(monitor));
    if ((now ^ before) & 1) g_object_notify(object, "network-available");
    if ((now ^ before) & 2) g_object_notify(object, "network-metered");
    if ((now ^ before) >> 2) g_object_notify(object, "connectivity");
    g_signal_emit(monitor, network_changed_signal, 0, (gboolean)(now & 1));
    g_object_unref(object);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *specification)
{
    gint properties = g_atomic_int_get(&REACH_NETWORK_MONITOR(object)->properties);
    switch (id) {
    case PROPERTY_NETWORK_AVAILABLE: g_value_set_boolean(value, properties & 1); break;
    case PROPERTY_NETWORK_METERED: g_value_set_boolean(value, properties >> 1 & 1); break;
    case PROPERTY_CONNECTIVITY: g_value_set_enum(value, properties >> 2); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, specification);
    }
}

/* ----------------------------------------------------------------------------- while the service is away */

static void destroy_source(GSource **source)
{
    if (*source) g_source_destroy(*source);
    g_clear_pointer(source, g_source_unref);
}

static void glib_changed(GNetworkMonitor *glib, gboolean available, gpointer data)
{
    ReachNetworkMonitor *monitor = data;
    network_view_update_without_service(&monitor->view, available, g_network_monitor_get_connectivity(glib));
    publish(monitor, NETWORK_VIEW_MOVED);
}

static gboolean hold_is_over(gpointer data)
{
    ReachNetworkMonitor *monitor = data;
    destroy_source(&monitor->hold_source);
    g_main_context_push_thread_default(monitor->context);
    monitor->glib = glib_monitor_new();
    g_main_context_pop_thread_default(monitor->context);
    if (monitor->glib) {
        g_signal_connect(monitor->glib, "network-changed", G_CALLBACK(glib_changed), monitor);
        publish(
            monitor, network_view_update_without_service(
                         &monitor->view, g_network_monitor_get_network_available(monitor->glib),
                         g_network_monitor_get_connectivity(monitor->glib)));
    }
    return G_SOURCE_REMOVE;
}

static void service_is_away(ReachNetworkMonitor *monitor)
{
    if (monitor->hold_source || monitor->glib) return;
    monitor->hold_source = g_timeout_source_new(REACH_MONITOR_HOLD_MS);
    g_source_set_callback(monitor->hold_source, hold_is_over, monitor, NULL);
    g_source_attach(monitor->hold_source, monitor->context);
}

static void forget_glib(ReachNetworkMonitor *monitor)
{
    destroy_source(&monitor->hold_source);
    if (monitor->glib) g_signal_handlers_disconnect_by_data(monitor->glib, monitor);
    g_clear_object(&monitor->glib);
}

/* ------------------------------------------------------------------------------------------- the service */

static void heard(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    (void)client;
    ReachNetworkMonitor *monitor = data;
    const reach_report *report = reach_reply_report(reply);
    monitor->heard = TRUE;
    monitor->present = event != REACH_EVENT_AWAY && report;
    monitor->first = monitor->first || event == REACH_EVENT_INITIAL;
    reach_report_unref(monitor->report);
    monitor->report = monitor->present ? reach_report_ref(report) : NULL;
}

/* Of several events at once the newest counts, so that a program sees no state that is over already. */
static NetworkViewChange take_newest(ReachNetworkMonitor *monitor)
{
    NetworkViewChange change = NETWORK_VIEW_UNKNOWN;
    if (monitor->report) {
        NetworkFacts facts = network_facts(monitor->report);
        change = network_view_update(&monitor->view, &facts, monitor->first);
    }
    if (change != NETWORK_VIEW_UNKNOWN) monitor->first = FALSE;
    g_clear_pointer(&monitor->report, reach_report_unref);
    monitor->heard = FALSE;
    return change;
}

static gboolean client_readable(gint descriptor, GIOCondition condition, gpointer data)
{
    (void)descriptor, (void)condition;
    ReachNetworkMonitor *monitor = g_object_ref(data);
    reach_client_dispatch(monitor->client);
    if (monitor->heard) {
        NetworkViewChange change = take_newest(monitor);
        if (change == NETWORK_VIEW_UNKNOWN) service_is_away(monitor);
        else forget_glib(monitor);
        publish(monitor, change);
    }
    g_object_unref(monitor);
    return G_SOURCE_CONTINUE;
}

/* Waits until the service has said how things are; FALSE if it does not in time. */
static gboolean wait_for_service(ReachNetworkMonitor *monitor, GCancellable *cancellable)
{
    gint64 end = g_get_monotonic_time() + REACH_MONITOR_START_LIMIT_MS * 1000;
    for (;;) {
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0 || g_cancellable_is_cancelled(cancellable) ||
            reach_client_run_once(monitor->client, (int)left) < 0)
            return FALSE;
        if (!monitor->heard) continue;
        if (!monitor->present) return FALSE;
        if (take_newest(monitor) != NETWORK_VIEW_UNKNOWN) return TRUE;
    }
}

static gboolean initialize(GInitable *initable, GCancellable *cancellable, GError **error)
{
    ReachNetworkMonitor *monitor = REACH_NETWORK_MONITOR(initable);
    if (reach_client_new(&monitor->client, NULL) != REACH_OK ||
        reach_client_monitor(monitor->client, 0, heard, monitor) != REACH_OK ||
        !wait_for_service(monitor, cancellable)) {
        if (!g_cancellable_set_error_if_cancelled(cancellable, error))
            g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED, "The service of Reach does not answer");
        return FALSE;
    }
    monitor->properties = packed(&monitor->view);
    monitor->client_source = g_unix_fd_source_new(reach_client_fd(monitor->client), G_IO_IN);
    g_source_set_callback(monitor->client_source, G_SOURCE_FUNC(client_readable), monitor, NULL);
    g_source_attach(monitor->client_source, monitor->context);
    return TRUE;
}

/* ------------------------------------------------------------------------------------------------- hosts */

static void can_reach_async(
    GNetworkMonitor *monitor, GSocketConnectable *host, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
    reach_client *client = REACH_NETWORK_MONITOR(monitor)->client;
    GTask *task = g_task_new(monitor, cancellable, callback, data);
    const reach_report *report = reach_client_report(client);
    host_check_start(task, host, reach_client_socket(client), report);
    reach_report_unref(report);
    g_object_unref(task);
}

static gboolean can_reach_finish(GNetworkMonitor *monitor, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, monitor), FALSE);
    return g_task_propagate_boolean(G_TASK(result), error);
}

static void keep_result(GObject *monitor, GAsyncResult *result, gpointer data)
{
    (void)monitor;
    *(GAsyncResult **)data = g_object_ref(result);
}

/* The asynchronous call in a main context of its own: that of the monitor or of the caller may not run. */
static gboolean
can_reach(GNetworkMonitor *monitor, GSocketConnectable *host, GCancellable *cancellable, GError **error)
{
    GMainContext *context = g_main_context_new();
    GAsyncResult *result = NULL;
    g_main_context_push_thread_default(context);
    can_reach_async(monitor, host, cancellable, keep_result, &result);
    while (!result) g_main_context_iteration(context, TRUE);
    g_main_context_pop_thread_default(context);
    gboolean reachable = can_reach_finish(monitor, result, error);
    g_object_unref(result);
    g_main_context_unref(context);
    return reachable;
}

/* ------------------------------------------------------------------------------------------------ GObject */

static void reach_network_monitor_init(ReachNetworkMonitor *monitor)
{
    monitor->context = g_main_context_get_thread_default();
    if (monitor->context) g_main_context_ref(monitor->context);
}

static void finalize(GObject *object)
{
    ReachNetworkMonitor *monitor = REACH_NETWORK_MONITOR(object);
    forget_glib(monitor);
    destroy_source(&monitor->client_source);
    reach_client_free(monitor->client);
    reach_report_unref(monitor->report);
    network_view_clear(&monitor->view);
    g_clear_pointer(&monitor->context, g_main_context_unref);
    G_OBJECT_CLASS(reach_network_monitor_parent_class)->finalize(object);
}

static void reach_network_monitor_class_init(ReachNetworkMonitorClass *class)
{
    GObjectClass *object_class = G_OBJECT_CLASS(class);
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    g_object_class_override_property(object_class, PROPERTY_NETWORK_AVAILABLE, "network-available");
    g_object_class_override_property(object_class, PROPERTY_NETWORK_METERED, "network-metered");
    g_object_class_override_property(object_class, PROPERTY_CONNECTIVITY, "connectivity");
}

static void reach_network_monitor_class_finalize(ReachNetworkMonitorClass *class) { (void)class; }

static void network_monitor_interface_init(GNetworkMonitorInterface *interface)
{
    interface->can_reach = can_reach;
    interface->can_reach_async = can_reach_async;
    interface->can_reach_finish = can_reach_finish;
    network_changed_signal = g_signal_lookup("network-changed", G_TYPE_NETWORK_MONITOR);
}

static void initable_interface_init(GInitableIface *interface) { interface->init = initialize; }

void reach_network_monitor_register(GTypeModule *module)
{
    reach_network_monitor_register_type(module);
    g_io_extension_point_implement(
        G_NETWORK_MONITOR_EXTENSION_POINT_NAME, REACH_TYPE_NETWORK_MONITOR, "reach", REACH_MONITOR_PRIORITY);
}
