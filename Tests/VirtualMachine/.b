#!/bin/bash
# Boots a throw-away virtual machine, runs one program in it as root, copies the program's output to
# standard output, exits with its exit status, and always ends.
#
#   boot --kernel DIR [--accel auto|kvm|tcg] [--limit SECONDS] [--memory MB] [--set NAME=VALUE…] PROGRAM [ARGUMENT…]
#
# The guest sees this host's files read-only at the same paths, below an overlay that is forgotten with the
# machine, so every program of the host runs there. It has no network to the outside. DIR comes from `prepare`.
# auto: KVM where the processor offers it and the machine gets going with it, otherwise emulation (TCG).
# Exit status: the program's; 124 time limit; 125 the machine ended without a status; 64 usage.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
kernel='' accel=auto limit=300 memory=768 settings=()
usage() { echo "boot: $*" >&2; exit 64; }
while [ $# -gt 0 ]; do
  case $1 in
    --kernel) kernel=$2; shift 2 ;;
    --accel) accel=$2; shift 2 ;;
    --limit) limit=$2; shift 2 ;;
    --memory) memory=$2; shift 2 ;;
    --set) settings+=("$2"); shift 2 ;;
    --*) usage "unknown option $1" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || usage "no program"
[ -e "$kernel/vmlinux" ] || usage "no kernel in '$kernel'"
end=$((SECONDS + limit))

# Everything of this run lives in one directory, and every process is known by its id.
job=$(mktemp -d "${TMPDIR:-/tmp}/reach-vm.XXXXXX")
machine='' copier=''
stop_machine() { [ -z "$machine" ] || { kill -9 "$machine"; wait "$machine"; } 2>/dev/null; machine=''; }
clean_up() {
  trap - EXIT
  stop_machine
  [ -z "$copier" ] || kill "$copier" 2>/dev/null
  rm -rf "$job"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# What the first and second stage in the guest read.
mkdir "$job/share"
printf '%s\n' "$PWD" > "$job/share/directory"
printf '%q ' "$@" > "$job/share/command"
for setting in ${settings[@]+"${settings[@]}"}; do printf 'export %s=%q\n' "${setting%%=*}" "${setting#*=}"; done > "$job/share/settings"
mkdir "$job/stage"
install -m 755 "$here/guest/init" "$job/stage/init"
install -m 644 "$here/guest/stage2" "$job/stage/stage2"
# The kernel unpacks concatenated archives one after the other.
{ cat "$kernel/boot.cpio"; cd "$job/stage" && printf 'init\nstage2\n' | busybox cpio -o -H newc 2>/dev/null; } > "$job/initramfs"

# A short wait without a process: nobody ever writes to this pipe.
mkfifo "$job/never"
exec 7<> "$job/never"
tick() { read -r -t 0.05 -u 7 _ || true; }

# start ACCELERATOR: the machine runs in the background; it dies with this script.
start() {
  local processor=(-accel kvm -cpu host)
  [ "$1" = kvm ] || processor=(-accel tcg,tb-size=256 -cpu max)
  mkfifo "$job/output"
  cat "$job/output" & copier=$!
  # -M pc has the timers by which the guest can calibrate its clock on a busy host
  setpriv --pdeathsig KILL qemu-system-x86_64 -M pc "${processor[@]}" -m "$memory" -smp 2 \
    -display none -nodefaults -no-user-config -no-reboot -nic none -device virtio-rng-pci \
    -kernel "$kernel/vmlinux" -initrd "$job/initramfs" -serial "file:$job/console" \
    -append "console=ttyS0 loglevel=4 panic=-1 nokaslr mitigations=off tsc=reliable random.trust_cpu=on apparmor=0 audit=0 \
cryptomgr.notests raid=noautodetect reach.modules=$kernel/modules/lib/modules" \
    -device virtio-serial-pci -chardev "file,id=output,path=$job/output" -device virtserialport,chardev=output,name=reach.output \
    -fsdev local,id=root,path=/,security_model=none,multidevs=remap,readonly=on -device virtio-9p-pci,fsdev=root,mount_tag=root \
    -fsdev "local,id=share,path=$job/share,security_model=none" -device virtio-9p-pci,fsdev=share,mount_tag=share \
    < /dev/null > "$job/qemu" 2>&1 7>&- &
  machine=$!
}

# ended: the guest has written its status (last of all, after its output was taken), or the machine is gone.
ended() { [ -s "$job/share/status" ] || ! kill -0 "$machine" 2>/dev/null; }

offers_kvm() { [ -r /dev/kvm ] && [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; }

case $accel in
  auto) accel=tcg; ! offers_kvm || accel='kvm tcg' ;;
  kvm | tcg) ;;
  *) usage "unknown accelerator $accel" ;;
esac

for one in $accel; do
  start "$one"
  # /dev/kvm may exist and still not run a machine: what does not reach its second stage in time is not used
  if [ "$one" = kvm ]; then
    attempt=$((SECONDS + 10))
    until ended || [ -e "$job/share/started" ] || ((SECONDS >= attempt)); do tick; done
    if [ ! -e "$job/share/started" ]; then
      echo "boot: KVM does not get the machine going here" >&2
      [ "$accel" != kvm ] || break
      stop_machine
      kill "$copier" 2>/dev/null
      rm -f "$job/output"
      continue
    fi
  fi
  until ended || ((SECONDS >= end)); do tick; done
done

if [ -s "$job/share/status" ]; then
  status=$(cat "$job/share/status")
elif kill -0 "$machine" 2>/dev/null; then
  status=124
  echo "boot: no end within $limit s" >&2
else
  status=125
  echo "boot: the machine ended without a status" >&2
fi
if [ ! -s "$job/share/status" ]; then
  { tail -n 25 "$job/console"; tail -n 5 "$job/qemu"; } >&2 2>/dev/null
fi
stop_machine
wait "$copier" 2>/dev/null # ends by itself: the machine was the only writer
copier=''
exit "$status"
