#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without rights: one message that says what is missing, nothing recorded.
. /tests/lib.sh
mkdir -p "$TMPDIR/nobody" && chown nobody "$TMPDIR/nobody" && cd "$TMPDIR/nobody" || exit

user() { run su nobody -s /bin/sh -c "cd $TMPDIR/nobody && $*"; }

user id -u
is "$said" 65534 "runs as another user"
for backend in tracefs bpf auto; do
	user schedlat record --backend $backend -d 100ms -o a.dat
	[ "$status" -eq 1 ] || [ "$status" -eq 3 ]
	ok $? "$backend: record is refused" "status: $status" "$said"
	is "$(grep -c . $out)" 1 "$backend: in one line"
	echo "# $said"
	[ ! -e a.dat ]
	ok $? "$backend: leaves no file"
done
user schedlat check
is "$status" 1 "check says that nothing can be recorded"
matches "$said" "no right to use tracefs" "and why"
finish
