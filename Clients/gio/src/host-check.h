/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a host can be reached: the answer of the service, for each address that the host has. */
#ifndef GIOREACH_HOST_CHECK_H
#define GIOREACH_HOST_CHECK_H

#include <gio/gio.h>
#include <reach-client.h>

/*
 * Ends the task with TRUE for a host that can be reached, and with an error that says what is missing for
 * another: G_IO_ERROR_NETWORK_UNREACHABLE without a path to anywhere, else G_IO_ERROR_HOST_UNREACHABLE, or
 * the error of the name's lookup. Everything is done in the task's main context.
 *
 * A route lookup sends no packet. Names are looked up by GLib's resolver, which asks a name server; that is
 * left out for names that are not this machine's while no interface could send the question.
 *
 * socket: of the service. report: what the service says now, or NULL while it is away; then GLib's own
 * monitor answers.
 */
void host_check_start(GTask *task, GSocketConnectable *host, const char *socket, const reach_report *report);

#endif
