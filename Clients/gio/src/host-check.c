/* SPDX-License-Identifier: Apache-2.0 */
#include "host-check.h"

#include <glib-unix.h>
#include <net/if.h>
#include <string.h>

#include "glib-monitor.h"
#include "view.h"

/* The data of a task. All of it is used in the task's main context alone. */
typedef struct {
    GSocketConnectable *host;
    GSocketAddressEnumerator *addresses;
    char *socket;
    gboolean online;
    reach_client *client;
    GSource *client_source;
    GSource *cancel_source;
    /* Why the first address cannot be reached. */
    GError *refusal;
    GNetworkMonitor *glib;
} HostCheck;

static void destroy_source(GSource **source)
{
    if (*source) g_source_destroy(*source);
    g_clear_pointer(source, g_source_unref);
}

static void close_client(HostCheck *check)
{
    destroy_source(&check->cancel_source);
    destroy_source(&check->client_source);
    g_clear_pointer(&check->client, reach_client_free);
}

static void free_check(gpointer data)
{
    HostCheck *check = data;
    close_client(check);
    g_clear_object(&check->addresses);
    g_clear_object(&check->glib);
    g_clear_object(&check->host);
    g_clear_error(&check->refusal);
    g_free(check->socket);
    g_free(check);
}

static void end_with_error(GTask *task, GError *error)
{
    close_client(g_task_get_task_data(task));
    g_task_return_error(task, error);
    g_object_unref(task);
}

static void end_reachable(GTask *task)
{
    close_client(g_task_get_task_data(task));
    g_task_return_boolean(task, TRUE);
    g_object_unref(task);
}

static void glib_answered(GObject *monitor, GAsyncResult *result, gpointer data)
{
    GTask *task = data;
    GError *error = NULL;
    if (g_network_monitor_can_reach_finish(G_NETWORK_MONITOR(monitor), result, &error)) end_reachable(task);
    else end_with_error(task, error);
}

static void ask_glib(GTask *task)
{
    HostCheck *check = g_task_get_task_data(task);
    close_client(check);
    check->glib = glib_monitor_new();
    if (check->glib)
        g_network_monitor_can_reach_async(
            check->glib, check->host, g_task_get_cancellable(task), glib_answered, task);
    else
        end_with_error(
            task, g_error_new_literal(G_IO_ERROR, G_IO_ERROR_FAILED, "The service of Reach is away"));
}

static void next_address(GTask *task);

static void answered(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    (void)client, (void)call;
    GTask *task = data;
    HostCheck *check = g_task_get_task_data(task);
    const reach_report *report = reach_reply_report(reply);
    destroy_source(&check->cancel_source);
    if (!report) {
        ask_glib(task);
    } else if (reach_report_is_online(report)) {
        end_reachable(task);
    } else {
        if (!check->refusal)
            check->refusal = g_error_new_literal(
                G_IO_ERROR, check->online ? G_IO_ERROR_HOST_UNREACHABLE : G_IO_ERROR_NETWORK_UNREACHABLE,
                reach_report_reason(report));
        next_address(task);
    }
}

static gboolean client_readable(gint descriptor, GIOCondition condition, gpointer data)
{
    (void)descriptor, (void)condition;
    /* The task may end in the callback of an answer, and the source with it. */
    GTask *task = g_object_ref(data);
    HostCheck *check = g_task_get_task_data(task);
    reach_client_dispatch(check->client);
    g_object_unref(task);
    return G_SOURCE_CONTINUE;
}

static gboolean cancelled(GCancellable *cancellable, gpointer data)
{
    GError *error = NULL;
    g_cancellable_set_error_if_cancelled(cancellable, &error);
    end_with_error(data, error);
    return G_SOURCE_REMOVE;
}

static gboolean ask_service(GTask *task, const char *address)
{
    HostCheck *check = g_task_get_task_data(task);
    GCancellable *cancellable = g_task_get_cancellable(task);
    if (!check->client) {
        if (reach_client_new(&check->client, check->socket) != REACH_OK) return FALSE;
        check->client_source = g_unix_fd_source_new(reach_client_fd(check->client), G_IO_IN);
        g_task_attach_source(task, check->client_source, G_SOURCE_FUNC(client_readable));
    }
    if (reach_client_explain(check->client, address, REACH_DEFAULT_TIMEOUT_MS, answered, task, NULL) !=
        REACH_OK)
        return FALSE;
    /* Only now: lookups of names see the cancellable themselves. */
    if (cancellable) {
        check->cancel_source = g_cancellable_source_new(cancellable);
        g_task_attach_source(task, check->cancel_source, G_SOURCE_FUNC(cancelled));
    }
    return TRUE;
}

/* "fe80::1%eth0" for addresses that mean something only on their link. */
static char *text_of(GInetSocketAddress *address)
{
    char name[IF_NAMESIZE];
    GInetAddress *host = g_inet_socket_address_get_address(address);
    char *text = g_inet_address_to_string(host);
    if (g_inet_address_get_family(host) != G_SOCKET_FAMILY_IPV6 ||
        !if_indextoname(g_inet_socket_address_get_scope_id(address), name))
        return text;
    char *scoped = g_strdup_printf("%s%%%s", text, name);
    g_free(text);
    return scoped;
}

static void got_address(GObject *enumerator, GAsyncResult *result, gpointer data)
{
    GTask *task = data;
    HostCheck *check = g_task_get_task_data(task);
    GError *error = NULL;
    GSocketAddress *address =
        g_socket_address_enumerator_next_finish(G_SOCKET_ADDRESS_ENUMERATOR(enumerator), result, &error);
    if (address && G_IS_INET_SOCKET_ADDRESS(address)) {
        char *text = text_of(G_INET_SOCKET_ADDRESS(address));
        if (!ask_service(task, text)) ask_glib(task);
        g_free(text);
    } else if (address) {
        next_address(task);
    } else if (error) {
        end_with_error(task, error);
    } else if (check->refusal) {
        end_with_error(task, g_steal_pointer(&check->refusal));
    } else {
        end_with_error(
            task, g_error_new_literal(G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE, "Host unreachable"));
    }
    g_clear_object(&address);
}

static void next_address(GTask *task)
{
    HostCheck *check = g_task_get_task_data(task);
    g_socket_address_enumerator_next_async(check->addresses, g_task_get_cancellable(task), got_address, task);
}

/* Whether a name needs no name server: this machine's own, and those of hosts(5). */
static gboolean is_local_name(const char *name)
{
    gboolean found = g_ascii_strcasecmp(name, "localhost") == 0 || g_str_has_suffix(name, ".localhost") ||
                     g_ascii_strcasecmp(name, g_get_host_name()) == 0;
    char *content = NULL;
    if (found || !g_file_get_contents("/etc/hosts", &content, NULL, NULL)) return found;
    char **words = g_strsplit_set(content, " \t\n", -1);
    for (gsize i = 0; !found && words[i]; i++) found = g_ascii_strcasecmp(words[i], name) == 0;
    g_strfreev(words);
    g_free(content);
    return found;
}

static gboolean needs_name_server(GSocketConnectable *host)
{
    if (G_IS_NETWORK_SERVICE(host)) return TRUE;
    if (!G_IS_NETWORK_ADDRESS(host)) return FALSE;
    const char *name = g_network_address_get_hostname(G_NETWORK_ADDRESS(host));
    /* A scope is no part of what GLib takes for an address. */
    return !g_hostname_is_ip_address(name) && !strchr(name, '%') && !is_local_name(name);
}

void host_check_start(GTask *task, GSocketConnectable *host, const char *socket, const reach_report *report)
{
    HostCheck *check = g_new0(HostCheck, 1);
    check->host = g_object_ref(host);
    check->socket = g_strdup(socket);
    check->online = report && reach_report_is_online(report);
    g_task_set_task_data(task, check, free_check);
    g_object_ref(task);
    if (!report) {
        ask_glib(task);
    } else if (!check->online && !network_report_has_link(report) && needs_name_server(host)) {
        end_with_error(
            task,
            g_error_new_literal(G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE, reach_report_reason(report)));
    } else {
        check->addresses = g_socket_connectable_proxy_enumerate(host);
        next_address(task);
    }
}
