/* SPDX-License-Identifier: Apache-2.0 */
#include "errors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reach-client.h"

int error_of_connect(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR: return REACH_ERROR_NO_SERVICE;
    case ECONNREFUSED: return REACH_ERROR_NOT_RUNNING;
    case EACCES:
    case EPERM: return REACH_ERROR_ACCESS;
    case EAGAIN: return REACH_ERROR_BUSY;
    case ENOMEM: return REACH_ERROR_NO_MEMORY;
    /* Another type of socket listens there. */
    case EPROTOTYPE: return REACH_ERROR_PROTOCOL;
    default: return REACH_ERROR_SYSTEM;
    }
}

int error_of_name(const char *name)
{
    static const struct {
        char name[43];
        signed char error;
    } names[] = {
        {"io.reach.Reachability.MalformedMessage", REACH_ERROR_PROTOCOL},
        {"io.reach.Reachability.LimitReached", REACH_ERROR_LIMIT},
        {"io.reach.Reachability.TimedOut", REACH_ERROR_TIMED_OUT},
        {"io.reach.Reachability.NoCarrier", REACH_ERROR_NO_CARRIER},
        {"io.reach.Reachability.Unavailable", REACH_ERROR_UNAVAILABLE},
        {"io.reach.Reachability.NoSuchInterface", REACH_ERROR_NO_SUCH_INTERFACE},
        {"io.reach.Reachability.NoSuchEntry", REACH_ERROR_NO_SUCH_ENTRY},
        {"io.reach.Reachability.KeyTaken", REACH_ERROR_KEY_TAKEN},
        {"io.reach.Reachability.NameTaken", REACH_ERROR_NAME_TAKEN},
        {"io.reach.Reachability.BadRequest", REACH_ERROR_BAD_REQUEST},
        {"org.varlink.service.PermissionDenied", REACH_ERROR_PERMISSION},
        {"org.varlink.service.InvalidParameter", REACH_ERROR_INVALID_PARAMETER},
        {"org.varlink.service.ExpectedMore", REACH_ERROR_INVALID_PARAMETER},
        {"org.varlink.service.InterfaceNotFound", REACH_ERROR_NO_SUCH_METHOD},
        {"org.varlink.service.MethodNotFound", REACH_ERROR_NO_SUCH_METHOD},
        {"org.varlink.service.MethodNotImplemented", REACH_ERROR_NO_SUCH_METHOD},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0) return names[i].error;
    }
    return REACH_ERROR_OTHER;
}

const char *reach_error_text(int error)
{
    switch (error) {
    case REACH_OK: return "no error";
    case REACH_ERROR_INVALID_ARGUMENT: return "an argument is not allowed, or not at this time";
    case REACH_ERROR_NO_MEMORY: return "there is not enough memory";
    case REACH_ERROR_SYSTEM: return "the system refuses";
    case REACH_ERROR_NO_SERVICE: return "there is no socket of the service";
    case REACH_ERROR_NOT_RUNNING: return "no process listens at the socket of the service";
    case REACH_ERROR_ACCESS: return "this user may not use the socket of the service";
    case REACH_ERROR_BUSY: return "the service has no room for another connection";
    case REACH_ERROR_DISCONNECTED: return "the service has closed the connection";
    case REACH_ERROR_PROTOCOL: return "the answer is not one of the service of Reach";
    case REACH_ERROR_TIMED_OUT: return "the time limit has passed";
    case REACH_ERROR_NO_CARRIER: return "no interface has a carrier";
    case REACH_ERROR_UNAVAILABLE:
        return "the service runs without this part, or it does not work at this time";
    case REACH_ERROR_LIMIT: return "a limit of the service is reached";
    case REACH_ERROR_PERMISSION: return "the service does not permit this to this user";
    case REACH_ERROR_INVALID_PARAMETER: return "the service does not allow a parameter";
    case REACH_ERROR_NO_SUCH_METHOD: return "the service is older than the method";
    case REACH_ERROR_NO_SUCH_INTERFACE: return "there is no such interface";
    case REACH_ERROR_NO_SUCH_ENTRY: return "the outbox has no such request";
    case REACH_ERROR_KEY_TAKEN: return "another request with this idempotency key waits";
    case REACH_ERROR_NAME_TAKEN: return "requests with this name wait in another lane";
    case REACH_ERROR_BAD_REQUEST: return "the outbox refuses the request";
    default: return "another error of the service";
    }
}

/* What to do. */
static const char *advice(int error)
{
    switch (error) {
    case REACH_ERROR_NO_SERVICE:
        return "the service of Reach is not installed, was never started, or has another socket: start it "
               "(systemctl start reach.socket), or name its socket in REACH_SOCKET";
    case REACH_ERROR_NOT_RUNNING:
        return "the service has ended without removing it: start it (systemctl start reach.service), and "
               "look "
               "at its log for the reason";
    case REACH_ERROR_ACCESS:
        return "the socket has to have mode 0666, and each folder on the way to it mode 0755";
    case REACH_ERROR_BUSY: return "try again, or find out which programs keep connections open (ss -xp)";
    case REACH_ERROR_DISCONNECTED:
        return "it ends or restarts, or a limit is reached: its log has the reason";
    case REACH_ERROR_PROTOCOL:
        return "another program listens at this socket, or a service that is newer than this library";
    default: return NULL;
    }
}

void error_message(char *text, size_t size, int error, int number, const char *socket)
{
    if (!*socket && error == REACH_ERROR_NO_SERVICE) {
        snprintf(text, size, "the path of the socket is empty (REACH_SOCKET): no service is to be asked");
        return;
    }
    const char *what = reach_error_text(error), *how = advice(error);
    char reason[64] = "";
    /* The message of strerror(3) may be in another language and change under another thread. */
    if (number && error == REACH_ERROR_SYSTEM) snprintf(reason, sizeof reason, " (errno %d)", number);
    snprintf(text, size, "%s: %s%s%s%s", socket, what, reason, how ? "; " : "", how ? how : "");
}
