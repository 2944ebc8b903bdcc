# Devices stacked on eth0 or wlan0: the status follows what carries them, the medium names the egress link itself.

# station_free: no program uses wlan0; it may become a port.
station_free() {
  access_point_start 1
  supplicant_end
  station_changed
}

scenario RS-106 'bridge with only a 4-address wlan port' bridge_over_wifi
bridge_over_wifi() {
  station_free
  ip link set wlan0 down
  iw dev wlan0 set 4addr on
  : > "$work/4addr"
  ip -batch - <<< 'link add bridge0 type bridge
link set wlan0 master bridge0
link set bridge0 up'
  supplicant_begin
  until_true 15 operstate bridge0 up
  watch_begin
  initially status=unreachable online=false
  ip -batch - <<< 'addr add 192.168.77.2/24 dev bridge0
route add default via 192.168.77.1 dev bridge0'
  await event=status status=wifi interface=bridge0 medium=bridge online=true tunnel=false
  statuses wifi
}

scenario RS-108 'vlan over eth0, then over wlan0' vlan_over_both
vlan_over_both() {
  associated
  cable_lay
  ip -batch - <<< 'link add link eth0 name eth0.5 type vlan id 5
addr add 10.6.0.2/24 dev eth0.5
link set eth0.5 up
route add default via 10.6.0.1 dev eth0.5 metric 50'
  until_true 5 operstate eth0.5 up
  watch_begin
  initially status=wired interface=eth0.5 medium=vlan online=true
  ip -batch - <<< 'link add link wlan0 name wlan0.5 type vlan id 5
addr add 10.7.0.2/24 dev wlan0.5
link set wlan0.5 up
route add default via 10.7.0.1 dev wlan0.5 metric 20'
  await event=status status=wifi previous=wired interface=wlan0.5 medium=vlan online=true
  ip link del wlan0.5
  await event=status status=wired previous=wifi interface=eth0.5 online=true
  statuses wifi wired
}

bond_active() { [ "$(text_of /sys/class/net/bond0/bonding/active_slave)" = "$1" ]; }
bond_both_up() { [ "$(grep -c '^MII Status: up' /proc/net/bonding/bond0)" = 3 ]; }

scenario RS-109 'bond fails over from eth0 to wlan0 and back' bond_failover
bond_failover() {
  station_free
  cable_lay
  # a radio cannot take over another address while it is associated: fail_over_mac
  ip -batch - <<< 'link add bond0 type bond mode active-backup miimon 50 fail_over_mac active
link set eth0 down
link set wlan0 down
link set eth0 master bond0
link set wlan0 master bond0
link set bond0 type bond primary eth0
link set bond0 up
addr add 192.168.77.2/24 dev bond0
route add default via 192.168.77.1 dev bond0'
  supplicant_begin
  until_true 15 operstate wlan0 up
  until_true 5 bond_both_up
  until_true 5 bond_active eth0
  watch_begin
  initially status=wired interface=bond0 medium=bond online=true
  cable out
  await event=status status=wifi previous=wired interface=bond0 medium=bond online=true
  statuses wifi
  cable in
  await event=status status=wired previous=wifi interface=bond0 medium=bond online=true
  statuses wifi wired
}

scenario RS-110 'ipvlan over wlan0' ipvlan_over_wifi
ipvlan_over_wifi() {
  associated
  watch_begin
  initially status=unreachable
  ip -batch - <<< 'link add link wlan0 name ipvlan0 type ipvlan mode l2
addr add 192.168.77.3/24 dev ipvlan0
link set ipvlan0 up
route add default via 192.168.77.1 dev ipvlan0'
  await event=status status=wifi previous=unreachable interface=ipvlan0 online=true tunnel=false
  statuses wifi
}

tunnel_uplink() {
  wifi_uplink
  ip -batch - <<< 'link add wg0 type wireguard
addr add 10.9.0.2/24 dev wg0
link set wg0 up
route add default dev wg0 metric 50'
}

scenario RS-111 'default by wg0 over wlan0' tunnel_over_wifi
tunnel_over_wifi() {
  tunnel_uplink
  watch_begin
  initially status=wifi interface=wg0 medium=tunnel tunnel=true online=true
  ip link del wg0
  await interface=wlan0 medium=wifi tunnel=false status=wifi online=true
  statuses
}

scenario RS-112 'wlan0 lost under wg0, which stays up' tunnel_without_underlay
tunnel_without_underlay() {
  tunnel_uplink
  watch_begin
  initially status=wifi interface=wg0 tunnel=true online=true
  access_point_stop 1
  await event=status status=unreachable previous=wifi online=false
  statuses unreachable
  ip -o link show dev wg0 up | grep -q LOWER_UP # else this was no proof
  access_point_start 1
  within 20 event=status status=wifi previous=unreachable interface=wg0 tunnel=true online=true
  statuses unreachable wifi
}
