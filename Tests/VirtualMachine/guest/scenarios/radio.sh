# What a radio is and what it is not: found without wireless extensions and without a matching sysfs, blocked by
# rfkill, and no uplink in access point or monitor mode.

# Debian's kernels have wireless extensions (CONFIG_CFG80211_WEXT). A kernel without them answers their ioctls with
# ENOTTY and lists no device in /proc/net/wireless, so a filter and a mount show the program the same.
scenario RS-113 'a kernel without wireless extensions' without_extensions
without_extensions() {
  wifi_uplink
  watch_begin "$REACH_PYTHON" -S -E "$guest/without_wext.py"
  initially status=wifi interface=wlan0 medium=wifi online=true
}

# The radio moves into the namespace "spare" with the program, while /sys goes on showing the first namespace, where
# a wired link has taken its name; then the other way round.
scenario RS-114 "sysfs shows another namespace's links" foreign_sysfs
foreign_sysfs() {
  station_changed
  access_point_start 1
  supplicant_end
  iw phy phy0 set netns name spare
  until_true 5 gone /sys/class/net/wlan0
  cable_lay
  ip -batch - <<< 'link set eth0 down
link set eth0 name wlan0
link set wlan0 up'
  supplicant_begin ip netns exec spare
  until_true 15 spare_associated
  ip -n spare -batch - <<< 'addr add 192.168.77.2/24 dev wlan0
route add default via 192.168.77.1 dev wlan0'
  watch_begin nsenter --net=/run/netns/spare
  initially status=wifi interface=wlan0 medium=wifi online=true
  watch_end
  ip -batch - <<< 'addr add 10.5.0.2/24 dev wlan0
route add default via 10.5.0.1 dev wlan0'
  watch_begin ip netns exec spare nsenter --net=/proc/1/ns/net
  initially status=wired interface=wlan0 medium!=wifi online=true ssid=null
}

spare_associated() { ip -n spare -o link show dev wlan0 | grep -q 'LOWER_UP.* state UP '; }

scenario rfkill 'a blocked radio is the reason' radio_blocked
radio_blocked() {
  wifi_uplink
  station_changed
  watch_begin
  initially status=wifi interface=wlan0 online=true
  rfkill block
  await event=status status=unreachable previous=wifi online=false 'reason~wlan0: rfkill-blocked'
  statuses unreachable
  status_is 1 status=unreachable 'reason~wlan0: rfkill-blocked'
  rfkill unblock
  ip link set wlan0 up
  until_true 15 operstate wlan0 up
  wifi_default
  await event=status status=wifi previous=unreachable interface=wlan0 online=true
  statuses unreachable wifi
}

# Both interfaces are up, with carrier, an address and the best default: only nl80211 tells that they are no uplinks.
scenario access-point-mode "the device's own access point is no uplink" own_access_point
own_access_point() {
  associated
  station_changed
  ip netns exec spare iw phy phy3 set netns 1
  until_true 5 test -e /sys/class/net/wlan3
  access_point_file 3 wlan3 1 > "$work/ap3.conf"
  hostapd -B -P "$work/ap3.pid" "$work/ap3.conf" > "$work/ap3.log"
  until_true 5 operstate wlan3 up
  ip -batch - <<< 'addr add 192.168.99.1/24 dev wlan3
route add default via 192.168.99.2 dev wlan3 metric 10'
  watch_begin
  no_uplink_until_wifi wlan3
}

scenario monitor-mode 'a monitor interface is no uplink' monitor_interface
monitor_interface() {
  associated
  iw phy phy0 interface add mon0 type monitor
  ip -batch - <<< 'link set mon0 up
addr add 192.168.98.1/24 dev mon0
route add default dev mon0 metric 10'
  watch_begin
  no_uplink_until_wifi mon0
}

no_uplink_until_wifi() {
  initially status=unreachable online=false alternative=null
  wifi_address
  ip route del default dev "$1"
  wifi_default
  await event=status status=wifi previous=unreachable interface=wlan0 online=true
  statuses wifi
  never alternative="$1"
}
