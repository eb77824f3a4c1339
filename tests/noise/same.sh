#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pairs of recordings of the same load, and what diff says of them: README.md.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
schedlat=$(realpath "${SCHEDLAT:-$here/../../build/schedlat}")
pairs=${1:-20} seconds=${2:-2}
. "$here/../live/cgroup.sh"

tmp=$(mktemp -d)
# shellcheck disable=SC2154 # alone_root is set by alone
finish() { [ -z "${alone_root:-}" ] || alone_end; rm -rf "$tmp"; }
trap finish EXIT
cd "$tmp"
cat >load.sh <<'END'
(while :; do :; done) &
cyclictest --policy=other -q -t1 -i 500 -D "$1" >/dev/null
kill $!
END
alone || { echo "no cgroup with the cpu controller can be made" >&2; exit 1; }
# where realtime bandwidth is per group, cyclictest needs some to set its priority at all
# shellcheck disable=SC2154
echo 10000 >"$alone_dir/cpu.rt_runtime_us" 2>/dev/null || true

found=0
for pair in $(seq "$pairs"); do
	for side in a b; do
		"$schedlat" record -q -o $side.dat -- bash load.sh "$seconds" 2>/dev/null
	done
	result=$("$schedlat" diff a.dat b.dat | sed -n '/^Result/,/^$/p' | tr -s ' \n' ' ')
	printf '%2d  %s\n' "$pair" "$result"
	[[ $result == *"no significant difference"* ]] || found=$((found + 1))
done
echo "$((pairs - found)) of $pairs pairs without a significant difference"
[ "$found" -le $((pairs / 10)) ]
