/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that several threads use, with a thread of the library or without. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "reach-client.h"
#include "test.h"

/* A service that answers each call at once, on a thread of its own, until its listener is shut down. */
struct service {
    char path[108];
    int listener;
    pthread_t thread;
};

static void answer(int connection)
{
    static const char report[] =
        "{\"parameters\":{\"status\":\"wired\",\"event\":\"initial\",\"links\":[]},\"continues\":true}";
    char call[4096];
    ssize_t count = recv(connection, call, sizeof call - 1, 0);
    if (count <= 0) return;
    call[count] = 0;
    send(connection, report, sizeof report, MSG_NOSIGNAL);
    if (!strstr(call, "Monitor")) return;
    /* A monitor gets some changes, and is closed. */
    for (int i = 0; i < 3; i++) send(connection, report, sizeof report, MSG_NOSIGNAL);
}

static void *serve(void *argument)
{
    struct service *service = argument;
    int connection;
    while ((connection = accept4(service->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        answer(connection);
        close(connection);
    }
    return NULL;
}

static void start(struct service *service)
{
    const char *temporary = getenv("TMPDIR");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!temporary || strlen(temporary) > 60) temporary = "/tmp";
    snprintf(service->path, sizeof service->path, "%.60s/threads.%d", temporary, getpid());
    strcpy(address.sun_path, service->path);
    unlink(service->path);
    service->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_INT(bind(service->listener, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_INT(listen(service->listener, 64), 0);
    /* Signals are for the test alone. */
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    EXPECT_INT(pthread_create(&service->thread, NULL, serve, service), 0);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
}

static void stop(struct service *service)
{
    shutdown(service->listener, SHUT_RDWR);
    pthread_join(service->thread, NULL);
    close(service->listener);
    unlink(service->path);
}

struct count {
    sem_t done;
    atomic_int answers, events;
    atomic_bool is_inside;
    /* Not atomic: the callbacks of a client never run at the same time. */
    int plain;
    pthread_t creator;
};

static void answered(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    struct count *count = data;
    (void)client;
    EXPECT(call != 0 && reach_reply_error(reply) == 0);
    EXPECT(!pthread_equal(pthread_self(), count->creator));
    EXPECT(!atomic_exchange(&count->is_inside, true));
    count->plain++;
    /* Another thread has its chance. */
    for (int i = 0; i < 20; i++) sched_yield();
    atomic_store(&count->is_inside, false);
    atomic_fetch_add(&count->answers, 1);
    sem_post(&count->done);
}

static void changed(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    struct count *count = data;
    (void)event;
    (void)reply;
    const reach_report *report = reach_client_report(client);
    reach_report_unref(report);
    count->plain++;
    atomic_fetch_add(&count->events, 1);
    sem_post(&count->done);
}

struct caller {
    reach_client *client;
    struct count *count;
};

static void *call_often(void *argument)
{
    struct caller *caller = argument;
    for (int i = 0; i < 50; i++) {
        reach_call call;
        EXPECT_INT(reach_client_get_status(caller->client, 20000, answered, caller->count, &call), 0);
        if (i % 5 == 0 && reach_client_cancel(caller->client, call)) {
            sem_post(&caller->count->done);
            atomic_fetch_add(&caller->count->answers, 1);
        }
        reach_client_timeout(caller->client);
        reach_client_connection(caller->client);
    }
    return NULL;
}

static void calls_come_from_any_thread(void)
{
    struct service service;
    struct count count = {.creator = pthread_self()};
    struct caller caller = {.count = &count};
    pthread_t threads[4];
    start(&service);
    sem_init(&count.done, 0, 0);
    EXPECT_INT(reach_client_new(&caller.client, service.path), 0);
    EXPECT_INT(reach_client_monitor(caller.client, 0, changed, &count), 0);
    EXPECT_INT(reach_client_start_thread(caller.client), 0);
    EXPECT_INT(reach_client_start_thread(caller.client), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_INT(reach_client_dispatch(caller.client), REACH_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, call_often, &caller);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    while (atomic_load(&count.answers) < 200 || atomic_load(&count.events) < 5) sem_wait(&count.done);
    /* Afterwards no callback runs, and none comes. */
    reach_client_free(caller.client);
    int plain = count.plain;
    EXPECT(plain >= 160 + 5);
    stop(&service);
    EXPECT_INT(count.plain, plain);
    sem_destroy(&count.done);
}

/* A callback that takes its time, until it is told to end. */
struct slow {
    sem_t begun, ends;
    atomic_bool has_returned;
};

static void slow_callback(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    struct slow *slow = data;
    (void)client;
    (void)call;
    (void)reply;
    sem_post(&slow->begun);
    sem_wait(&slow->ends);
    atomic_store(&slow->has_returned, true);
}

static void *let_it_end(void *argument)
{
    struct slow *slow = argument;
    sem_post(&slow->ends);
    return NULL;
}

static void cancelling_waits_for_the_callback(void)
{
    for (int i = 0; i < 2; i++) {
        struct slow slow = {.has_returned = false};
        reach_client *client;
        reach_call call;
        pthread_t other;
        sem_init(&slow.begun, 0, 0);
        sem_init(&slow.ends, 0, 0);
        EXPECT_INT(reach_client_new(&client, "/nowhere/at/all"), 0);
        EXPECT_INT(reach_client_start_thread(client), 0);
        EXPECT_INT(reach_client_get_status(client, 20000, slow_callback, &slow, &call), 0);
        sem_wait(&slow.begun);
        pthread_create(&other, NULL, let_it_end, &slow);
        if (i == 0) {
            EXPECT(!reach_client_cancel(client, call));
            EXPECT(atomic_load(&slow.has_returned));
        }
        reach_client_free(client);
        EXPECT(atomic_load(&slow.has_returned));
        pthread_join(other, NULL);
        sem_destroy(&slow.begun);
        sem_destroy(&slow.ends);
    }
}

static void free_inside(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    (void)call;
    (void)reply;
    reach_client_free(client);
    sem_post(data);
}

static void the_librarys_thread_may_free_its_client(void)
{
    for (int i = 0; i < 20; i++) {
        sem_t done;
        reach_client *client;
        sem_init(&done, 0, 0);
        EXPECT_INT(reach_client_new(&client, "/nowhere/at/all"), 0);
        EXPECT_INT(reach_client_get_status(client, 20000, free_inside, &done, NULL), 0);
        EXPECT_INT(reach_client_start_thread(client), 0);
        sem_wait(&done);
        sem_destroy(&done);
    }
    /* Detached threads end by themselves; leaks are looked for at the end of the program. */
    usleep(100000);
}

static atomic_int handled;

static void count_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

static void signals_are_not_for_the_librarys_thread(void)
{
    struct service service;
    struct count count = {.creator = pthread_self()};
    struct sigaction action = {.sa_handler = count_signal};
    reach_client *client;
    sigset_t mask, one;
    start(&service);
    sem_init(&count.done, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    EXPECT_INT(reach_client_new(&client, service.path), 0);
    EXPECT_INT(reach_client_start_thread(client), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    EXPECT(!sigismember(&mask, SIGUSR1));
    /* No other thread takes it now. */
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), SIGUSR1);
    for (int i = 0; i < 5; i++) {
        reach_client_get_status(client, 20000, answered, &count, NULL);
        sem_wait(&count.done);
    }
    EXPECT_INT(atomic_load(&handled), 0);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    EXPECT_INT(atomic_load(&handled), 1);
    reach_client_free(client);
    stop(&service);
    sem_destroy(&count.done);
}

static void *dispatch_often(void *argument)
{
    struct caller *caller = argument;
    while (atomic_load(&caller->count->answers) < 100) {
        EXPECT(reach_client_run_once(caller->client, 10) >= 0);
    }
    return NULL;
}

static void two_threads_may_dispatch(void)
{
    struct service service;
    struct count count = {0};
    struct caller caller = {.count = &count};
    pthread_t threads[2];
    start(&service);
    sem_init(&count.done, 0, 0);
    EXPECT_INT(reach_client_new(&caller.client, service.path), 0);
    for (int i = 0; i < 100; i++) reach_client_get_status(caller.client, 20000, answered, &count, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, dispatch_often, &caller);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    EXPECT_INT(count.plain, 100);
    reach_client_free(caller.client);
    stop(&service);
    sem_destroy(&count.done);
}

const struct test tests[] = {
    {"C-110 calls come from any thread, and callbacks never at the same time", calls_come_from_any_thread},
    {"C-111 cancelling and freeing wait for a callback that runs", cancelling_waits_for_the_callback},
    {"C-112 a callback on the library's thread may free the client", the_librarys_thread_may_free_its_client},
    {"C-113 signals do not reach the library's thread", signals_are_not_for_the_librarys_thread},
    {"C-114 two threads may dispatch: one does", two_threads_may_dispatch},
    {NULL, NULL},
};
