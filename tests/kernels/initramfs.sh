#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a guest has instead of a disk:
#
#	initramfs.sh FILE BUSYBOX [PROGRAM...]
#
# FILE becomes an archive with busybox, guest/ (init, the tests), schedlat, and the
# programs, each with the shared libraries it needs here. A program that this machine
# does not have is left out and said; the tests that need it skip. The build directory
# is O, the tool SCHEDLAT, as for the other tests; KGUEST is a directory whose tests and
# other files are taken instead of those of guest/.
set -euo pipefail

out=${1:?file} busybox=${2:?busybox}
shift 2
here=$(dirname "$(realpath "$0")")
O=$(realpath -m "${O:-$here/../../build}")
SCHEDLAT=${SCHEDLAT:-$O/schedlat}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,dev,proc,sys,tmp,root,out,etc,tests,workloads,boot,run}

libraries() # PROGRAM
{
	local lib
	{ ldd "$1" 2>/dev/null || true; } | sed -nE "s,^[^/]*(/[^ ]+).*,\1,p" | while read -r lib; do
		[ -e "$root$lib" ] || install -D "$(realpath "$lib")" "$root$lib"
	done
}

add() # PROGRAM DIRECTORY
{
	install "$1" "$root/$2/"
	libraries "$1"
}

install "$busybox" "$root/bin/busybox"
[ -x "$SCHEDLAT" ] || { echo "initramfs: $SCHEDLAT is not built" >&2; exit 1; }
install "$SCHEDLAT" "$root/bin/schedlat"
libraries "$SCHEDLAT"
for name; do
	if program=$(PATH=$PATH:/usr/sbin:/sbin command -v "$name"); then
		add "$program" bin
	elif [ -f "$name" ]; then
		install -m 644 "$name" "$root/bin/" # what a program reads
	else
		echo "initramfs: $name is not on this machine: left out" >&2
	fi
done
for program in "$O"/tests/workloads/*; do
	[[ -f $program && -x $program ]] && add "$program" workloads
done
install "$here/guest/init" "$root/init"
install -m 644 "$here"/guest/*.sh "$root/tests/"
find "${KGUEST:-$here/guest}" -maxdepth 1 -type f ! -name init -exec install -t "$root/tests/" {} +
echo 'root:x:0:0::/root:/bin/sh
nobody:x:65534:65534::/tmp:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:
nogroup:x:65534:' > "$root/etc/group"

python3 "$here/mkcpio.py" "$root" > "$out"
