# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# TAP for the tests in a guest. The shell is busybox's: no arrays, no [[ ]].
# Sourced; a test ends with finish.

nr=0
out=$TMPDIR/out.$$

ok() # STATUS NAME [DETAIL...]
{
	ok_status=$1 ok_name=$2
	shift 2
	nr=$((nr + 1))
	if [ "$ok_status" -eq 0 ]; then
		echo "ok $nr - $ok_name"
	else
		echo "not ok $nr - $ok_name"
		[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
	fi
}

is() # GOT WANT NAME
{
	[ "$1" = "$2" ]
	ok $? "$3" "got:  $1" "want: $2"
}

at_least() # GOT LOW NAME
{
	[ "${1:-0}" -ge "$2" ] 2>/dev/null
	ok $? "$3" "got:  $1" "want: at least $2"
}

matches() # TEXT ERE NAME
{
	echo "$1" | grep -qE -- "$2"
	ok $? "$3" "text: $1" "want: $2"
}

contains() # TEXT STRING NAME
{
	echo "$1" | grep -qF -- "$2"
	ok $? "$3" "text: $1" "want: $2"
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

finish()
{
	echo "1..$nr"
	exit 0
}

# Run and keep both outputs: in $said what was printed, in $status how it ended.
run()
{
	"$@" >$out 2>&1
	status=$?
	said=$(cat $out)
}

has() { command -v "$1" >/dev/null; }

# A recording by the eyes of another tool, once: an emulated CPU is slow.
view() # FILE
{
	trace-cmd report -i "$1" >"$TMPDIR/view" 2>/dev/null
}

# Value of a metadata key in what view() saw.
meta() # KEY
{
	sed -n "s/.* meta: *$1=//p" "$TMPDIR/view" | head -n 1
}

# How many of its events match.
events() # ERE
{
	grep -cE " $1: " "$TMPDIR/view"
}

# Do the processes, maps and instances that recording needs outlive it?
leaves_nothing() # NAME
{
	is "$(ls /sys/kernel/tracing/instances)" "" "$1: no instance is left"
	if has bpftool; then
		# The kernel frees them some time after the last user is gone.
		for try in 1 2 3 4 5 6 7 8 9 10; do
			left=$(bpftool prog show 2>&1)$(bpftool map show 2>&1)
			[ -n "$left" ] || break
			sleep 0.5
		done
		is "$left" "" "$1: no program, no map is left"
	else
		skip "$1: no program, no map is left" "no bpftool"
	fi
}
