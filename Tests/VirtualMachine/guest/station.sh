# The device's own radio wlan0: association by wpa_supplicant, address and default route. Sourced by main.
# An association is kept from one scenario to the next, since it costs seconds; a scenario that changes more than
# addresses and routes of wlan0 says so by station_changed.

station_changed() { : > "$work/station.changed"; }

supplicant() { wpa_cli -p "$work/supplicant" -i wlan0 "$@" > /dev/null; }

# supplicant_begin [COMMAND PREFIX…]: wlan0 looks for the network every second.
supplicant_begin() {
  cat > "$work/supplicant.conf" << TEXT
ctrl_interface=$work/supplicant
network={
 ssid="$essid"
 psk=$key
 key_mgmt=WPA-PSK
 scan_freq=2412 2437
}
TEXT
  "$@" wpa_supplicant -B -D nl80211 -i wlan0 -c "$work/supplicant.conf" -P "$work/supplicant.pid" -f "$work/supplicant.log"
  supplicant scan_interval 1
}

supplicant_end() {
  local process
  process=$(text_of "$work/supplicant.pid") || return 0
  kill "$process" 2>/dev/null || rm -f "$work/supplicant.pid"
  until_true 5 gone "$work/supplicant.pid"
}

# associated: wlan0 is on the first access point, the only one.
associated() {
  access_point_stop 2
  access_point_start 1
  [ -e "$work/supplicant.pid" ] || supplicant_begin
  until_true 15 operstate wlan0 up
}

wifi_address() { ip addr replace 192.168.77.2/24 dev wlan0; }
wifi_default() { ip route replace default via 192.168.77.1 dev wlan0 metric 600; }

# wifi_uplink: wlan0 associated, with address and default.
wifi_uplink() {
  associated
  ip -batch - <<< 'addr replace 192.168.77.2/24 dev wlan0
route replace default via 192.168.77.1 dev wlan0 metric 600'
}

rfkill() {
  local switch
  for switch in /sys/class/net/wlan0/phy80211/rfkill*/soft; do
    case $1 in block) echo 1 > "$switch" ;; unblock) echo 0 > "$switch" ;; esac
  done
}

# station_tidy: after station_changed wlan0 is as after power-on, without a supplicant.
station_tidy() {
  local process
  [ -e "$work/station.changed" ] || return 0
  rm -f "$work/station.changed"
  supplicant_end
  if process=$(text_of "$work/ap3.pid"); then
    kill "$process"
    until_true 5 gone "$work/ap3.pid"
  fi
  [ ! -e /sys/class/net/wlan3 ] || iw phy phy3 set netns name spare
  if [ ! -e /sys/class/net/wlan0/phy80211 ]; then
    # a wired link under the radio's name goes first, else the radio comes back with another one
    ip link del wlan0
    ip netns exec spare iw phy phy0 set netns 1
    until_true 5 test -e /sys/class/net/wlan0/phy80211
  fi
  rfkill unblock
  ip -force -batch - <<< 'link set wlan0 nomaster
link set wlan0 down'
  [ ! -e "$work/4addr" ] || iw dev wlan0 set 4addr off
  rm -f "$work/4addr"
} > /dev/null 2>&1
