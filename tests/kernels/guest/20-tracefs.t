#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording through tracefs, and the report of it.
. /tests/lib.sh
has cyclictest || skip_all "no cyclictest"
cd /out || exit

run schedlat record -q --backend tracefs -o tracefs.dat -- cyclictest -q -l 300 -i 2000 -t 2
is "$status" 0 "record ends as cyclictest did"
run schedlat report tracefs.dat
is "$status" 0 "report reads it"
contains "$(echo "$said" | grep ^Kernel:)" " $(uname -r) " "report names this kernel"
matches "$said" "recorded by schedlat" "report names the recorder"
at_least "$(schedlat report --comm cyclictest --fields count -s count -x , tracefs.dat | sed -n 2p)" 290 \
	"a thread of cyclictest waited after each of its sleeps"
run schedlat report --why=max tracefs.dat
is "$status" 0 "report --why reads it"
if has trace-cmd; then
	view tracefs.dat
	is "$(meta backend)" tracefs "meta backend"
	contains "$(meta uname)" "$(uname -r)" "meta uname"
	at_least "$(events sched_switch)" 600 "has switches"
	at_least "$(events sched_waking)" 600 "has wakeups"
	matches "$(meta config_hz)" '^[0-9]+$' "has the kernel's configuration"
	at_least "$(events local_timer_entry)" 10 "has timer interrupts"
else
	skip "what the file holds" "no trace-cmd"
fi
leaves_nothing tracefs
finish
