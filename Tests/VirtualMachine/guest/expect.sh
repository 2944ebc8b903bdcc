# What a scenario says about `reach`: starts `reach watch --json` in the background and hands expectations on its
# lines to observer.py. Sourced by main. An expectation that fails ends the scenario with its message.

# fail MESSAGE: ends the scenario; MESSAGE reads "expected …, got …".
fail() { echo "$*" > "$work/verdict"; exit 1; }

# skip REASON: ends the scenario as one that cannot be run here.
skip() { echo "$*" > "$work/skipped"; exit 0; }

observer_begin() {
  mkfifo "$work/requests" "$work/answers"
  "$REACH_PYTHON" -S -E "$guest/observer.py" < "$work/requests" > "$work/answers" &
  echo $! > "$work/observer.pid"
  exec 5> "$work/requests" 6< "$work/answers"
}

# ask VERB [WORD…]: the answer is left in $answer; a "no" ends the scenario.
ask() {
  local IFS=$'\t' reply
  printf '%s\n' "$*" >&5
  IFS= read -r -t 60 -u 6 reply || fail "expected an answer of the observer, got none"
  case $reply in
    yes*) answer=${reply#yes} answer=${answer# } ;;
    *) fail "${reply#no }" ;;
  esac
}

# watch_begin [COMMAND PREFIX…]: starts the program and awaits its first line; expectations count from there.
watch_begin() {
  : > "$work/watch.jsonl"
  "$@" "$REACH" watch --json > "$work/watch.jsonl" 2> "$work/watch.err" 5>&- 6<&- < /dev/null &
  echo $! > "$work/watch.pid"
  ask open "$work/watch.jsonl" "$(cat "$work/watch.pid")"
  ask await 10 event=initial
  ask from_now
}

# watch_end: the program ends with 0 when asked to, and all it wrote was in order.
watch_end() {
  local process status=0
  [ -e "$work/watch.pid" ] || return 0
  process=$(cat "$work/watch.pid")
  kill -TERM "$process" 2>/dev/null || fail "expected a running reach watch, got one that had ended: $(head -c 300 "$work/watch.err")"
  wait "$process" || status=$?
  rm -f "$work/watch.pid"
  [ $status = 0 ] || fail "expected exit status 0 of reach watch after SIGTERM, got $status"
  ask sound
}

mark() { ask from_now; }
initially() { ask initially "$@"; }
within() { ask await "$@"; }
await() { ask await 10 "$@"; }
statuses() { ask statuses "$@"; }
never() { ask never "$@"; }

# status_is EXIT-STATUS CONDITION…: what `reach status --json` says at this moment.
status_is() {
  local wanted=$1 status=0
  shift
  timeout 10 "$REACH" status --json > "$work/status.json" 2> "$work/status.err" 5>&- 6<&- || status=$?
  [ $status = "$wanted" ] || fail "expected exit status $wanted of reach status, got $status"
  ask object "$work/status.json" "$@"
}

# until_true SECONDS COMMAND…: polls what the laboratory itself must reach before the scenario goes on.
until_true() {
  local end=$((SECONDS + $1 + 1))
  shift
  until "$@" 2>/dev/null; do
    ((SECONDS < end)) || fail "expected the laboratory to reach '$*', got no such state"
    read -r -t 0.05 -u 7 _ || true
  done
}

# evidence: what a person wants to see beside a failure.
evidence() {
  {
    echo "last lines of reach watch --json:"
    tail -n 6 "$work/watch.jsonl" | cut -c 1-900
    echo "its standard error:"
    tail -n 5 "$work/watch.err"
    echo "the kernel:"
    ip -br link
    ip -4 -br address
    ip -4 route
  } 2>/dev/null | sed 's/^/#   /'
}
