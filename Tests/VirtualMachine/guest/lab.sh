# The laboratory's surroundings: radios in the air (mac80211_hwsim), access points, and a switch with one cable.
# Sourced by main. Four radios: wlan0 is the device's own; wlan1 and wlan2 are the access points of one extended
# service set (WPA2, two channels) in the namespace "air"; wlan3 is kept aside in "spare".

essid=reach-lab
key=$(printf '%064d' 7) # a raw key: nothing is spent on deriving it from a passphrase

in_air() { ip netns exec air "$@"; }
text_of() { local text; read -r text < "$1" && echo "$text"; } 2>/dev/null
operstate() { [ "$(text_of "/sys/class/net/$1/operstate")" = "$2" ]; }
gone() { [ ! -e "$1" ]; }

air_begin() {
  local number
  modprobe mac80211_hwsim radios=4
  ip -batch - <<< 'netns add air
netns add spare
netns add switch'
  for number in 1 2; do iw phy phy$number set netns name air; done
  iw phy phy3 set netns name spare
  ip -n air -batch - <<< 'link set lo up
link add br0 type bridge
addr add 192.168.77.1/24 dev br0
link set br0 up'
  for number in 1 2; do access_point_file $number wlan$number $((number * 5 - 4)) "bridge=br0" > $work/ap$number.conf; done
  access_point_start 1
}

# access_point_file NUMBER INTERFACE CHANNEL [LINE…]: what hostapd reads.
access_point_file() {
  local number=$1 interface=$2 channel=$3
  shift 3
  cat << TEXT
interface=$interface
driver=nl80211
ctrl_interface=$work/hostapd$number
ssid=$essid
hw_mode=g
channel=$channel
wds_sta=1
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_psk=$key
TEXT
  printf '%s\n' "$@"
}

access_point_runs() { [ -e "$work/ap$1.pid" ]; }

access_point_start() {
  access_point_runs "$1" || in_air hostapd -B -P "$work/ap$1.pid" "$work/ap$1.conf" > "$work/ap$1.log" 2>&1
  until_true 5 access_point_runs "$1"
}

# The access point goes in an orderly way: it deauthenticates its stations.
access_point_stop() {
  access_point_runs "$1" || return 0
  kill "$(text_of "$work/ap$1.pid")" || true
  until_true 5 gone "$work/ap$1.pid"
}

# A pair whose ends differ in index: with equal ones the kernel announces the loss of carrier late.
cable_lay() {
  ip -batch - <<< 'link add eth0 index 101 type veth peer name p0 index 201 netns switch
link set eth0 up'
  ip -n switch -batch - <<< 'addr add 10.5.0.1/24 dev p0
link set p0 up'
  until_true 5 operstate eth0 up
}

# cable out|in: the other end goes down or up; addresses and routes of eth0 stay.
cable() {
  case $1 in
    out) ip -n switch link set p0 down ;;
    in) ip -n switch link set p0 up ;;
  esac
}

# wired_uplink: eth0 with an address and the better default.
wired_uplink() {
  cable_lay
  ip -batch - <<< 'addr add 10.5.0.2/24 dev eth0
route add default via 10.5.0.1 dev eth0 metric 100'
}

links_monitor_begin() {
  rm -f "$work/links"
  stdbuf -oL ip -o -ts monitor link > "$work/links" 2>&1 5>&- 6<&- &
  echo $! > "$work/monitor.pid"
  until_true 5 grep -q " $! " /proc/net/netlink
}

kernel_said() { grep -qE "$1" "$work/links"; }

# tidy: what a scenario made is gone, whether it succeeded or not; radios and association are kept where sound.
tidy() {
  local name process
  for name in watch monitor; do
    if process=$(text_of "$work/$name.pid"); then kill "$process"; fi 2>/dev/null
    rm -f "$work/$name.pid"
  done
  {
    for name in bond0 bridge0 wg0 ipvlan0 eth0.5 wlan0.5 eth0 mon0; do
      [ ! -e /sys/class/net/$name ] || echo "link del $name"
    done
    echo 'addr flush dev wlan0'
  } | ip -force -batch - > /dev/null 2>&1
  station_tidy
}
