# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# TAP, and what the live tests share. Sourced from tests/live/*.t, which run as
# root on a kernel with tracefs and skip elsewhere.

SCHEDLAT=${SCHEDLAT:-$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")/build/schedlat}
nr=0 bad=0

ok() # STATUS NAME [DETAIL...]
{
	local status=$1 name=$2
	shift 2
	nr=$((nr + 1))
	if [ "$status" -eq 0 ]; then
		echo "ok $nr - $name"
	else
		echo "not ok $nr - $name"
		bad=$((bad + 1))
		[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
	fi
}

is() # GOT WANT NAME
{
	local status=0
	[ "$1" = "$2" ] || status=1
	ok $status "$3" "got:  $1" "want: $2"
}

# A number lies in a range.
within() # GOT LOW HIGH NAME
{
	local status=0
	awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x ~ /^[0-9.]+$/ && x >= a && x <= b) }' || status=1
	ok $status "$4" "got:  $1" "want: $2 to $3"
}

matches() # TEXT ERE NAME
{
	local status=0
	[[ $1 =~ $2 ]] || status=1
	ok $status "$3" "text: $1" "want: $2"
}

skip() # NAME REASON
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# Skip the file where the bpf backend does not work.
needs_bpf()
{
	local out
	out=$("$SCHEDLAT" check | sed -n '/^bpf /,/^perf/p')
	[[ $out =~ ^bpf\ +can\ record ]] || skip_all "$(sed -n 's/^ *reason *//p' <<<"$out")"
}

finish()
{
	echo "1..$nr"
	[ "$bad" -eq 0 ]
	exit
}

[ -x "$SCHEDLAT" ] || skip_all "the tool is not built"
[ "$(id -u)" -eq 0 ] || skip_all "recording needs root"
TRACEFS=$(awk '$9 == "tracefs" && $4 == "/" { print $5; exit }
	{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "tracefs") { print $5; exit } }' \
	/proc/self/mountinfo)
[ -n "$TRACEFS" ] || skip_all "tracefs is not mounted"
[ -w "$TRACEFS/instances" ] || skip_all "tracefs cannot be written here"
mkdir "$TRACEFS/instances/schedlat-test" 2>/dev/null || skip_all "tracefs allows no instance here"
rmdir "$TRACEFS/instances/schedlat-test"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# The state of tracefs that a recorder could have changed. Instances of other
# recorders that are alive do not count.
state()
{
	local file name pid
	find "$TRACEFS" -path "$TRACEFS/instances" -prune -o -print | LC_ALL=C sort | md5sum
	grep -H . "$TRACEFS"/options/* "$TRACEFS"/{tracing_on,current_tracer,trace_clock,set_event} \
		"$TRACEFS"/{buffer_size_kb,buffer_percent,buffer_subbuf_size_kb,tracing_cpumask} \
		"$TRACEFS"/{set_event_pid,saved_cmdlines_size,events/enable,events/sched/enable} \
		/proc/sys/kernel/ftrace_enabled 2>/dev/null
	for file in "$TRACEFS"/instances/*; do
		name=${file##*/} pid=${file##*-}
		[ "$name" != '*' ] || continue
		if [[ $name == schedlat-* ]] && grep -qs ^schedlat "/proc/$pid/comm"; then
			continue
		fi
		echo "instance $name"
	done
}

# Has nothing of $before changed? Another recorder may be in between for a moment.
state_is() # BEFORE NAME
{
	local after i
	for i in 1 2 3 4 5; do
		after=$(state)
		[ "$after" != "$1" ] || break
		sleep 0.2
	done
	local status=0
	[ "$after" = "$1" ] || status=1
	ok $status "$2" "$(diff <(echo "$1") <(echo "$after"))"
}

# Value of a metadata key, by another tool's eyes.
meta() # FILE KEY
{
	trace-cmd report -i "$1" 2>/dev/null | sed -n "/ meta: *$2=/{s/.* meta: *$2=//p;q}"
}

# Wait until a recorder's instance traces.
wait_for_tracing() # PID
{
	local i
	for i in $(seq 100); do
		[ "$(cat "$TRACEFS/instances/schedlat-$1/tracing_on" 2>/dev/null)" = 1 ] && return 0
		sleep 0.05
	done
	return 1
}
