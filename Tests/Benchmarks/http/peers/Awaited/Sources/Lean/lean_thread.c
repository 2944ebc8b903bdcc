// SPDX-License-Identifier: Apache-2.0
#include "Lean.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "../../../../programs/lean.h"

struct lean_transfer {
  CURL *easy;
  void *context;
  lean_transfer *next;
};

static void (*tell)(void *, bool);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// What has been handed over and not taken; whether the loop has to be woken for it.
static lean_transfer *first, **last = &first;
static bool asleep;
static int wakeup;

lean_transfer *lean_transfer_make(const char *url) {
  lean_transfer *transfer = calloc(1, sizeof *transfer);
  if (!transfer || !(transfer->easy = curl_easy_init())) abort();
  add_setup(transfer->easy, url);
  curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
  return transfer;
}

void lean_send(lean_transfer *transfer, void *context) {
  transfer->context = context;
  transfer->next = NULL;
  pthread_mutex_lock(&lock);
  *last = transfer;
  last = &transfer->next;
  bool wake = asleep;
  asleep = false;
  pthread_mutex_unlock(&lock);
  if (wake) eventfd_write(wakeup, 1);
}

// Begins what has been handed over; false where there is nothing, and then senders wake the loop.
static bool take(void) {
  pthread_mutex_lock(&lock);
  lean_transfer *next = first;
  first = NULL;
  last = &first;
  asleep = !next;
  pthread_mutex_unlock(&lock);
  bool any = next;
  for (lean_transfer *transfer; (transfer = next);) {
    next = transfer->next;
    curl_multi_add_handle(multi, transfer->easy);
  }
  return any;
}

// The loop looks for itself from now on.
static void awake(void) {
  pthread_mutex_lock(&lock);
  asleep = false;
  pthread_mutex_unlock(&lock);
}

static void reap(void) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(multi, &left))) {
    CURL *easy = message->easy_handle;
    lean_transfer *transfer;
    long status = 0;
    bool succeeded = message->data.result == CURLE_OK;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi, easy);
    tell(transfer->context, succeeded && status / 100 == 2);
  }
}

static void *run(void *unused) {
  struct epoll_event events[BATCH];
  for (;;) {
    while (is_due()) {
      run_timer();
      reap();
    }
    if (take()) continue;
    int ready = wait_events(events);
    awake();
    for (int i = 0; i < ready; i++)
      if (events[i].data.fd != wakeup) act(events[i]);
    reap();
  }
  return unused;
}

bool lean_start(long concurrency, void (*done)(void *, bool)) {
  pthread_t thread;
  tell = done;
  if (!set_up(concurrency) || (wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) return false;
  // Edge-triggered, so it needs no read.
  struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = wakeup};
  return !epoll_ctl(poller, EPOLL_CTL_ADD, wakeup, &event) && !pthread_create(&thread, NULL, run, NULL);
}

long long lean_bytes(void) { return bytes; }
