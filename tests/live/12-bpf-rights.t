#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where the bpf backend does not work: the reason in one line, and what is done instead.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v setpriv >/dev/null || skip_all "setpriv is not installed"

before=$(state)
chmod 755 "$tmp"
cp "$SCHEDLAT" "$tmp/tool"
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# Root, but for the rights to load programs.
less() { setpriv --bounding-set -bpf,-perfmon,-sys_admin "$@"; }

out=$(nobody ./tool record --backend bpf -d 1s -o nobody.dat 2>&1)
is $? 3 "unprivileged: status"
is "$(wc -l <<<"$out")" 1 "unprivileged: one line"
matches "$out" "bpf: no CAP_BPF and no CAP_PERFMON: run as root" "unprivileged: reason"
out=$(nobody ./tool record -d 1s -o nobody.dat 2>&1)
is $? 1 "unprivileged, auto: status"
is "$(wc -l <<<"$out")" 1 "unprivileged, auto: one line"
matches "$out" "no right to use tracefs.*; bpf: no CAP_BPF" "unprivileged, auto: why neither"
out=$(nobody ./tool check)
is $? 1 "unprivileged check: status"
matches "$out" "bpf +cannot record"$'\n'" +reason +bpf: no CAP_BPF" "unprivileged check: reason"
matches "$("$SCHEDLAT" check)" "bpf +can record"$'\n'" +probes +[0-9]+ of [0-9]+" "check: probes"

if less true 2>/dev/null; then
	out=$(less ./tool record --backend bpf -d 1s -o less.dat 2>&1)
	is $? 3 "without the capabilities: status"
	matches "$out" "no CAP_BPF and no CAP_PERFMON" "without the capabilities: reason"
	out=$(less ./tool record -d 100ms -o less.dat 2>&1)
	is $? 0 "without the capabilities, auto: records"
	is "$(grep -c 'recording through tracefs; bpf: no CAP_BPF' <<<"$out")" 1 "and says why not through bpf"
	is "$(meta less.dat backend)" tracefs "through tracefs"
	is "$(less ./tool record -q -d 100ms -o less.dat 2>&1)" "" "-q says nothing"
	out=$(less ./tool record --only short -d 100ms -o less.dat 2>&1)
	is $? 3 "--only without the capabilities: status"
	matches "$out" "no CAP_BPF" "--only without the capabilities: reason"
	less ./tool check >check.txt
	is $? 0 "check without the capabilities: status"
	matches "$(cat check.txt)" "slice-protection +needs EEVDF" "and which causes that disables"
else
	skip "without the capabilities" "setpriv cannot drop them"
fi

if unshare -m true 2>/dev/null; then
	out=$(unshare -m bash -c 'mount -t tmpfs none /sys/kernel/btf
		./tool record --backend bpf -d 1s -o btf.dat; echo "status $?"
		./tool record -d 100ms -o btf.dat; echo "status $?"' 2>&1)
	matches "$out" "no BTF.*status 3.*recording through tracefs; bpf: .*no BTF.*status 0" \
		"without BTF: reason, status, fallback"
else
	skip "without BTF" "no mount namespaces here"
fi
state_is "$before" "tracefs at the end"
finish
