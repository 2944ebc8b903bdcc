# Two uplinks, eth0 with metric 100 and wlan0 with metric 600: hand-over, and the preferred one dead but not withdrawn.

two_uplinks() {
  wifi_uplink
  wired_uplink
}

scenario RS-104 "eth0's default withdrawn, wlan0 takes over" handover_to_wifi
handover_to_wifi() {
  two_uplinks
  watch_begin
  initially status=wired interface=eth0 medium!=wifi online=true source=10.5.0.2 ssid=null
  ip route del default dev eth0
  await event=status status=wifi previous=wired interface=wlan0 online=true source=192.168.77.2
  statuses wifi
  never online=false
}

scenario RS-105 'eth0 returns' handover_to_wired
handover_to_wired() {
  two_uplinks
  ip route del default dev eth0
  watch_begin
  initially status=wifi interface=wlan0 online=true
  ip route add default via 10.5.0.1 dev eth0 metric 100
  await event=status status=wired previous=wifi interface=eth0 online=true source=10.5.0.2
  statuses wired
  never online=false
}

# The kernel goes on choosing the dead eth0: connections that are not bound time out, so the status is unreachable;
# wlan0 has a path of its own.
scenario rescue 'cable out with its default still there names wlan0 as the alternative' rescue_path
rescue_path() {
  two_uplinks
  watch_begin
  initially status=wired interface=eth0 online=true
  cable out
  await online=false status=wired alternative=wlan0
  await event=status status=unreachable previous=wired online=false alternative=wlan0
  statuses unreachable
  status_is 1 status=unreachable online=false alternative=wlan0
  cable in
  await event=status status=wired previous=unreachable interface=eth0 online=true
  statuses unreachable wired
}
