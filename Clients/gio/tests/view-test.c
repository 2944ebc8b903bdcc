/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of src/view.c: reports go in, properties come out. */
#include <gio/gio.h>

#include "view.h"

static const NetworkFacts wired = {
    .status = REACH_STATUS_WIRED,
    .online = TRUE,
    .internet = REACH_INTERNET_NOT_PROBED,
    .generation = 1,
    .interface = "eth0",
    .source = "192.0.2.2",
    .gateway = "192.0.2.1",
};
static const NetworkFacts gone = {
    .status = REACH_STATUS_UNREACHABLE,
    .internet = REACH_INTERNET_NOT_PROBED,
    .generation = 2,
};

static void
check_view(const NetworkView *view, gboolean available, gboolean metered, GNetworkConnectivity connectivity)
{
    g_assert_cmpint(!!view->available, ==, available);
    g_assert_cmpint(!!view->metered, ==, metered);
    g_assert_cmpint(view->connectivity, ==, connectivity);
}

static NetworkViewChange update(NetworkView *view, NetworkFacts facts)
{
    return network_view_update(view, &facts, FALSE);
}

static NetworkView begun_with(NetworkFacts facts)
{
    NetworkView view = {0};
    network_view_update(&view, &facts, TRUE);
    return view;
}

/* G-001 */
static void test_path_without_probe_is_full(void)
{
    NetworkView view = begun_with(wired);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    g_assert_cmpint(update(&view, gone), ==, NETWORK_VIEW_CHANGED);
    check_view(&view, FALSE, FALSE, G_NETWORK_CONNECTIVITY_LOCAL);
    network_view_clear(&view);
}

/* G-002 */
static void test_same_report_is_no_change(void)
{
    NetworkView view = begun_with(wired);
    g_assert_cmpint(update(&view, wired), ==, NETWORK_VIEW_SAME);
    network_view_clear(&view);
}

/* G-003 */
static void test_short_loss_is_no_change_and_the_path_after_it_is_another(void)
{
    NetworkView view = begun_with(wired);
    NetworkFacts lost = wired;
    lost.online = FALSE;
    lost.interface = lost.source = lost.gateway = NULL;
    lost.internet = REACH_INTERNET_NONE;
    g_assert_cmpint(update(&view, lost), ==, NETWORK_VIEW_SAME);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    NetworkFacts back = wired;
    back.generation = 2;
    g_assert_cmpint(update(&view, back), ==, NETWORK_VIEW_MOVED);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    network_view_clear(&view);
}

/* G-004 */
static void test_connectivity_is_what_the_probe_says(void)
{
    static const struct {
        reach_internet internet;
        GNetworkConnectivity connectivity;
    } rows[] = {
        {REACH_INTERNET_LIMITED, G_NETWORK_CONNECTIVITY_LIMITED},
        {REACH_INTERNET_PORTAL, G_NETWORK_CONNECTIVITY_PORTAL},
        {REACH_INTERNET_NONE, G_NETWORK_CONNECTIVITY_LIMITED},
        {REACH_INTERNET_FULL, G_NETWORK_CONNECTIVITY_FULL},
        {REACH_INTERNET_OTHER, G_NETWORK_CONNECTIVITY_FULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        NetworkFacts facts = wired;
        facts.internet = rows[i].internet;
        NetworkView view = begun_with(facts);
        check_view(&view, TRUE, FALSE, rows[i].connectivity);
        network_view_clear(&view);
    }
}

/* G-005 */
static void test_pending_probe_keeps_the_state_of_the_same_path_alone(void)
{
    NetworkFacts portal = wired, pending = wired, elsewhere = wired;
    portal.internet = REACH_INTERNET_PORTAL;
    pending.internet = elsewhere.internet = REACH_INTERNET_UNKNOWN;
    elsewhere.interface = "wlan0";
    NetworkView view = begun_with(portal);
    g_assert_cmpint(update(&view, pending), ==, NETWORK_VIEW_SAME);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_PORTAL);
    g_assert_cmpint(update(&view, elsewhere), ==, NETWORK_VIEW_CHANGED);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_LIMITED);
    network_view_clear(&view);
}

/* G-006 */
static void test_costs_are_metered_while_there_is_a_network(void)
{
    NetworkFacts expensive = wired;
    expensive.expensive = TRUE;
    NetworkView view = begun_with(expensive);
    check_view(&view, TRUE, TRUE, G_NETWORK_CONNECTIVITY_FULL);
    NetworkFacts lost = gone;
    lost.expensive = TRUE;
    update(&view, lost);
    check_view(&view, FALSE, FALSE, G_NETWORK_CONNECTIVITY_LOCAL);
    network_view_clear(&view);
}

/* G-007 */
static void test_restarted_service_with_the_same_path_is_no_change(void)
{
    NetworkFacts late = wired;
    late.generation = 9;
    NetworkView view = begun_with(late);
    g_assert_cmpint(network_view_update(&view, &wired, TRUE), ==, NETWORK_VIEW_SAME);
    /* In one run of the service another generation is another path. */
    g_assert_cmpint(network_view_update(&view, &late, FALSE), ==, NETWORK_VIEW_MOVED);
    network_view_clear(&view);
}

/* G-008 */
static void test_unknown_status_changes_nothing(void)
{
    NetworkView view = begun_with(wired);
    NetworkFacts unknown = gone;
    unknown.status = REACH_STATUS_UNKNOWN;
    g_assert_cmpint(update(&view, unknown), ==, NETWORK_VIEW_UNKNOWN);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    network_view_clear(&view);
}

/* G-009 */
static void test_later_status_counts_by_its_path(void)
{
    NetworkFacts later = wired;
    later.status = REACH_STATUS_OTHER;
    NetworkView view = begun_with(later);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    later.online = FALSE;
    update(&view, later);
    check_view(&view, FALSE, FALSE, G_NETWORK_CONNECTIVITY_LOCAL);
    network_view_clear(&view);
}

/* G-010 */
static void test_without_the_service_a_metered_network_stays_metered_until_it_is_gone(void)
{
    NetworkFacts expensive = wired;
    expensive.expensive = TRUE;
    NetworkView view = begun_with(expensive);
    g_assert_cmpint(
        network_view_update_without_service(&view, TRUE, G_NETWORK_CONNECTIVITY_FULL), ==, NETWORK_VIEW_SAME);
    check_view(&view, TRUE, TRUE, G_NETWORK_CONNECTIVITY_FULL);
    network_view_update_without_service(&view, FALSE, G_NETWORK_CONNECTIVITY_LOCAL);
    network_view_update_without_service(&view, TRUE, G_NETWORK_CONNECTIVITY_FULL);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_FULL);
    network_view_clear(&view);
}

/* G-011 */
static void test_start_within_a_loss_is_limited(void)
{
    NetworkFacts lost = wired;
    lost.online = FALSE;
    NetworkView view = begun_with(lost);
    check_view(&view, TRUE, FALSE, G_NETWORK_CONNECTIVITY_LIMITED);
    network_view_clear(&view);
}

int main(int count, char **arguments)
{
    g_test_init(&count, &arguments, NULL);
    g_test_add_func("/view/G-001/path without probe", test_path_without_probe_is_full);
    g_test_add_func("/view/G-002/same report", test_same_report_is_no_change);
    g_test_add_func("/view/G-003/short loss", test_short_loss_is_no_change_and_the_path_after_it_is_another);
    g_test_add_func("/view/G-004/probe", test_connectivity_is_what_the_probe_says);
    g_test_add_func("/view/G-005/pending probe", test_pending_probe_keeps_the_state_of_the_same_path_alone);
    g_test_add_func("/view/G-006/costs", test_costs_are_metered_while_there_is_a_network);
    g_test_add_func("/view/G-007/restarted service", test_restarted_service_with_the_same_path_is_no_change);
    g_test_add_func("/view/G-008/unknown status", test_unknown_status_changes_nothing);
    g_test_add_func("/view/G-009/later status", test_later_status_counts_by_its_path);
    g_test_add_func(
        "/view/G-010/without the service",
        test_without_the_service_a_metered_network_stays_metered_until_it_is_gone);
    g_test_add_func("/view/G-011/start within a loss", test_start_within_a_loss_is_limited);
    return g_test_run();
}
