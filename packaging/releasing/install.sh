#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the files of this archive, or removes them again.
#   ./install.sh [ROOT]            into ROOT, / unless named; files in ROOT/etc that are there already stay as they are
#   ./install.sh --remove [ROOT]   the installed files; those in ROOT/etc only where they are as in this archive
# It starts and enables nothing: see usr/share/doc/reach/README.md. The service needs the user that
# usr/lib/sysusers.d/reach.conf describes; systemd-sysusers makes it.
set -eu
cd "$(dirname "$0")"
remove=''
if [ "${1:-}" = --remove ]; then
    remove=1
    shift
fi
case ${1:-} in -*) echo "install.sh: unknown option $1 (--remove is known)" >&2; exit 64 ;; esac
root=${1:-/}
[ -d "$root" ] || { echo "install.sh: $root is no folder" >&2; exit 66; }
root=${root%/}

if [ -n "$remove" ]; then
    find etc usr ! -type d | while read -r file; do
        case $file in etc/*) cmp -s "$file" "$root/$file" || continue ;; esac
        rm -f "$root/$file"
    done
    # Those that are empty now.
    find etc usr -depth -type d | while read -r folder; do rmdir "$root/$folder" 2>/dev/null || true; done
    exit
fi
find etc usr -type d | while read -r folder; do mkdir -p "$root/$folder"; done
find etc usr ! -type d | while read -r file; do
    case $file in etc/*) [ ! -e "$root/$file" ] || continue ;; esac
    # By another name first: a program that runs cannot be written.
    cp -P "$file" "$root/$file.new"
    mv -f "$root/$file.new" "$root/$file"
done
