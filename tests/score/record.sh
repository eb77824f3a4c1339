#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records one provoker: what score.py judges, here or on another machine (--from). For any
# POSIX shell, busybox's included, since a guest may have nothing else.
#
#	record.sh DIR PROVOKER BACKEND RUN WARM-UP SECONDS [option of schedlat record ...]
#
# In DIR it leaves
#	NAME.about		what the provoker says of itself, on this kernel
#	NAME.BACKEND.RUN.said	what it said while it ran: its threads, its victims
#	NAME.BACKEND.RUN.end	status of the recorder, the warm-up, and what the recorder said
#	NAME.BACKEND.RUN.dat	the recording
# Exit status: 0 recorded, 77 not possible here (the reason is the last line), else failed.
set -u

dir=$1 provoker=$2 backend=$3 run=$4 warm_up=$5 seconds=$6
shift 6
schedlat=${SCHEDLAT:-schedlat}
name=$(basename "$provoker")
base=$dir/$name.$backend.$run
length=$(awk "BEGIN { print $warm_up + $seconds }")

give_up() # STATUS REASON
{
	echo "$2"
	exit "$1"
}

is_there() { kill -0 "$1" 2>/dev/null; }

# The provoker and all that it has started.
end_provoker()
{
	kill -TERM "-$group" 2>/dev/null || kill -TERM "$group" 2>/dev/null
	left=200
	while is_there "$group" && [ "$left" -gt 0 ]; do
		sleep 0.1
		left=$((left - 1))
	done
	is_there "$group" && kill -KILL "-$group"
	wait "$group" 2>/dev/null
}

"$provoker" --about >"$dir/$name.about" || give_up 1 "$name --about: status $?"
: >"$base.said"
"$provoker" -w -s "$(awk "BEGIN { print int($length + 15) }")" >>"$base.said" </dev/null &
group=$!
trap end_provoker EXIT
trap 'exit 1' HUP INT TERM
while ! grep -q '^ready$' "$base.said"; do
	if ! is_there $group; then
		wait $group
		status=$?
		reason=$(sed -n 's/^skip //p; s/^failed //p' "$base.said")
		give_up $status "${reason:-ended with status $status}"
	fi
	sleep 0.1
done

# It begins when the recorder is at work and falls silent before that ends: where it takes
# all CPUs, the recorder would take minutes to start. Its own options are a list.
# shellcheck disable=SC2016,SC2046
timeout -s KILL 200 "$schedlat" record -q --backend "$backend" -o "$base.dat" "$@" \
	$(sed -n 's/^record=//p' "$dir/$name.about") -- \
	sh -c 'kill -USR1 "-$0"; sleep "$1"; kill -USR2 "-$0"' $group "$length" \
	>"$base.err" 2>&1
status=$?
{
	echo $status
	echo "$warm_up"
	cat "$base.err"
} >"$base.end"
reason=$(head -n 1 "$base.err")
rm -f "$base.err"
[ $status -eq 0 ] || rm -f "$base.dat"
[ $status -ne 3 ] || give_up 77 "backend $backend: $reason"
[ $status -eq 0 ] || give_up 1 "schedlat record: status $status: $reason"
