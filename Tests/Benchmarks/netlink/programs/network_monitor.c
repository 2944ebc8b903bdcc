// GLib's GNetworkMonitor as a program: "ready up|down", then "up" or "down" at each of its network-changed
// signals.
#include <gio/gio.h>
#include <stdio.h>

static void say(const char *text) {
  fputs(text, stdout);
  fflush(stdout);
}

static void changed(GNetworkMonitor *monitor, gboolean available, gpointer data) {
  (void)monitor, (void)data;
  say(available ? "up\n" : "down\n");
}

int main(void) {
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  GNetworkMonitor *monitor = g_network_monitor_get_default();
  g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
  say(g_network_monitor_get_network_available(monitor) ? "ready up\n" : "ready down\n");
  g_main_loop_run(loop);
}
