# The life of one association: gain, loss, a bounce too short to count, and a key that is refused.

scenario RS-100 'wlan0 associated, address, default' association_gained
association_gained() {
  associated
  watch_begin
  initially status=unreachable online=false
  wifi_address
  wifi_default
  await event=status status=wifi previous=unreachable interface=wlan0 medium=wifi online=true source=192.168.77.2 \
    gateway=192.168.77.1 tunnel=false alternative=null
  statuses wifi
  status_is 0 status=wifi interface=wlan0 medium=wifi online=true source=192.168.77.2 gateway=192.168.77.1
  # with wpa_supplicant the kernel names the network only in its scan results, not with the interface
  never status=wifi ssid=null
  await "ssid=$essid" 'signalDBm<0' status=wifi
  status_is 0 "ssid=$essid" 'signalDBm<0'
}

scenario RS-101 'access point stops, returns after 5 s' association_lost
association_lost() {
  local begin
  wifi_uplink
  watch_begin
  initially status=wifi interface=wlan0 online=true
  access_point_stop 1
  begin=$SECONDS
  await event=path status=wifi online=false # at once; the status follows after the grace
  await event=status status=unreachable previous=wifi online=false
  until_true 6 five_seconds_since "$begin"
  statuses unreachable
  access_point_start 1
  within 20 event=status status=wifi previous=unreachable interface=wlan0 online=true
  statuses unreachable wifi
}

five_seconds_since() { ((SECONDS >= $1 + 5)); }

# A roam within the service set takes 30 ms to 0.9 s without carrier. Every one is judged by the loss the kernel
# itself announced; the scenario has succeeded when two in a row stayed below the grace, so that a status which the
# first one announced late would have been seen. More than two with one program would rouse its damping. Each bounce
# is one generation more: what one of them raises late shows before the next one, or before a change of gateway.
scenario RS-102 'a bounce shorter than the loss grace' association_bounced
association_bounced() {
  local try short generation
  wifi_uplink
  access_point_start 2
  for try in 1 2 3 4; do
    short=0
    watch_begin
    initially status=wifi interface=wlan0 online=true
    ask field generation
    generation=$answer
    bounce_to 2
    bounce_to 1
    generation_is "$generation"
    ip route replace default via 192.168.77.9 dev wlan0 metric 600
    await gateway=192.168.77.9
    generation_is $((generation + 1))
    wifi_default
    await gateway=192.168.77.1
    if [ $short = 2 ]; then
      statuses
      return 0
    fi
    watch_end
  done
  fail "expected two bounces below 500 ms in $try attempts, got none"
}

# bounce_to NUMBER: roams there; $generation is the one before and becomes the one after.
bounce_to() {
  supplicant scan freq=2412,2437
  until_true 5 sees_access_point "$1"
  generation_is "$generation"
  roam_to "$1"
  ask gap "$work/links" wlan0
  echo "# RS-102: carrier lost for $answer ms"
  if ((answer < 450)); then short=$((short + 1)); fi
  await online=true "generation>$generation" interface=wlan0 status=wifi
  generation=$((generation + 1))
  generation_is $generation
}

generation_is() {
  ask field generation
  [ "$answer" = "$1" ] || fail "expected generation $1, one more for each change, got $answer"
}

sees_access_point() { wpa_cli -p "$work/supplicant" -i wlan0 scan_results | grep -q "^02:00:00:00:0$1:00"; }

roam_to() {
  links_monitor_begin
  supplicant roam "02:00:00:00:0$1:00"
  until_true 10 kernel_said ' wlan0: .*state (DOWN|DORMANT)'
  until_true 10 operstate wlan0 up
  until_true 5 last_said_up
  kill "$(text_of "$work/monitor.pid")"
}

last_said_up() { grep ' wlan0: .* state ' "$work/links" | tail -n 1 | grep -q ',LOWER_UP.* state UP '; }

# The access point returns under another name with the same hardware address; the name would take over the terminal.
scenario hostile-name 'a network renamed to control characters' hostile_name
hostile_name() {
  local name file
  wifi_uplink
  station_changed
  watch_begin
  initially status=wifi "ssid=$essid"
  access_point_stop 1
  await online=false
  # reach, escape, ]0;x, bell, line feed, CSI of eight bits, a byte that is no UTF-8, a mark from right to left
  name=7265616368 name+=1b5d303b7807 name+=0a name+=c29b33316d name+=ff name+=e280ae
  sed "s/^ssid=.*/ssid2=$name/" "$work/ap1.conf" > "$work/ap1.renamed"
  in_air hostapd -B -P "$work/ap1.pid" "$work/ap1.renamed" > "$work/ap1.log"
  until_true 5 access_point_runs 1
  supplicant set_network 0 ssid "$name"
  supplicant reassociate
  within 20 status=wifi online=true interface=wlan0 'ssid~^reach\x1b\]0;x\x07\n\x9b31m\ufffd\u202e$'
  never status=wifi online=true ssid=null
  status_is 0 'ssid~^reach\x1b\]0;x\x07\n\x9b31m\ufffd\u202e$'
  "$REACH" status > "$work/status.text"
  "$REACH" status --color always > "$work/status.color"
  "$REACH" watch --count 1 > "$work/watch.text"
  for file in "$work"/status.text "$work"/watch.text "$work"/watch.jsonl; do
    ! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|\xff' "$file" ||
      fail "expected no control characters in ${file##*/}, got $(LC_ALL=C grep -aP '[\x00-\x1f\x7f-\xff]' "$file" | od -An -c | head -c 300)"
  done
  ! LC_ALL=C grep -qP '\x1b(?!\[[0-9;]*m)|\x07|\xc2\x9b' "$work/status.color" || fail "expected colours alone, got $(od -An -c "$work/status.color")"
  grep -q '("reach.*]0;x.*dBm)' "$work/status.text" || fail "expected the network's name, got $(head -n 1 "$work/status.text")"
  echo "# hostile-name: $(head -n 1 "$work/status.text")"
  access_point_stop 1
}

scenario wrong-key 'a refused key is dormant, never online' key_refused
key_refused() {
  associated
  supplicant disconnect
  until_true 10 operstate wlan0 down
  wifi_address
  wifi_default
  watch_begin
  initially status=unreachable online=false
  supplicant set_network 0 psk "$(printf '%064d' 8)"
  links_monitor_begin
  supplicant reassociate
  until_true 15 kernel_said ' wlan0: .*state DORMANT'
  until_true 15 operstate wlan0 down
  supplicant set_network 0 psk "$key"
  never online=true
  statuses
  supplicant select_network 0
  within 20 event=status status=wifi previous=unreachable interface=wlan0 online=true
  statuses wifi
}
