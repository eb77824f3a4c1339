#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is missing is named: rights, mount, content, write access.
. "$(dirname "$0")/lib.sh"
unshare -m true 2>/dev/null || skip_all "no mount namespaces here"

before=$(state)
chmod 755 "$tmp"
cp "$SCHEDLAT" "$tmp/tool"
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

out=$(nobody ./tool record -d 1s -o "${TMPDIR:-/tmp}/schedlat-nobody.dat" 2>&1)
is $? 1 "unprivileged: status"
is "$(wc -l <<<"$out")" 1 "unprivileged: one line"
matches "$out" "no right to use tracefs at $TRACEFS.*run as root" "unprivileged: which right"
out=$(nobody ./tool check)
is $? 1 "unprivileged check: status"
matches "$out" "tracefs +cannot record.*no right" "unprivileged check: reason"
out=$(nobody ./tool record --help)
is $? 0 "unprivileged: --help"
out=$("$SCHEDLAT" check)
is $? 0 "check: status"
matches "$out" "tracefs +can record" "check: tracefs"
is "$("$SCHEDLAT" check --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
b = {x["name"]: x for x in d["backends"]}
print(d["schema"], d["can_record"], b["tracefs"]["state"], b["perf.data"]["reason"])')" \
	"schedlat.check/1 True usable not yet" "check --json"

# shellcheck disable=SC2016
elsewhere() # SETUP: run check and record in a mount namespace of their own
{
	TRACEFS=$TRACEFS SCHEDLAT=$SCHEDLAT unshare -m bash -c "$1"'
		"$SCHEDLAT" record --backend tracefs -d 1s -o /dev/null 2>&1; echo "record $?"
		"$SCHEDLAT" check >check.txt; echo "check $?"; sed -n 2p check.txt'
}
unmount='while read -r _ _ _ _ place _; do
	case $place in "$TRACEFS" | /sys/kernel/debug | /sys/kernel/debug/*) echo "$place" ;; esac
done </proc/self/mountinfo | tac | while read -r place; do umount "$place"; done;'
out=$(elsewhere "$unmount")
matches "$out" "tracefs is not mounted: as root, mount -t tracefs nodev /sys/kernel/tracing" "not mounted"
matches "$out" "record 1" "not mounted: record"
"$SCHEDLAT" check | grep -q '^bpf *can record'
matches "$out" "check $?" "not mounted: check; the bpf backend needs no tracefs"
# A directory of another tracefs that has nothing in it.
out=$(elsewhere 'mkdir -p "$TRACEFS/instances/schedlat-empty"; mkdir empty
	mount -o remount,bind,ro "$TRACEFS";')
rmdir "$TRACEFS/instances/schedlat-empty" 2>/dev/null
matches "$out" "mounted read-only: as root, mount -o remount,rw" "read-only"
matches "$out" "record 1" "read-only: record"
state_is "$before" "tracefs at the end"
finish
