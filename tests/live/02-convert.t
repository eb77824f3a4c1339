#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# trace-cmd converts our files, and the analysis of what comes out is the same.
. "$(dirname "$0")/lib.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
algorithms=$(trace-cmd list -c 2>/dev/null)

"$SCHEDLAT" record --backend tracefs -q -o plain.dat -- bash -c 'for i in $(seq 300); do /bin/true; done'
"$SCHEDLAT" record --backend tracefs -q --compress -o zstd.dat -- bash -c 'for i in $(seq 300); do /bin/true; done'

# The analysis, without what names the file.
analysis()
{
	"$SCHEDLAT" report -i "$1" --json --why=0ns |
		python3 -c 'import json, sys; d = json.load(sys.stdin); d.pop("input"); print(json.dumps(d, sort_keys=True))' |
		md5sum
}

for file in plain zstd; do
	want=$(trace-cmd report -i $file.dat 2>/dev/null | md5sum)
	want_analysis=$(analysis $file.dat)
	for to in "6 none" "7 none" "7 zlib" "7 zstd"; do
		read -r version algorithm <<<"$to"
		name="$file to v$version $algorithm"
		if [ "$algorithm" != none ] && ! grep -qw "$algorithm" <<<"$algorithms"; then
			skip "$name" "this trace-cmd has no $algorithm"
			continue
		fi
		rm -f out.dat
		err=$(trace-cmd convert -i $file.dat -o out.dat --file-version "$version" \
			--compression "$algorithm" 2>&1 >/dev/null)
		ok $? "$name: convert" "$err"
		is "$(trace-cmd report -i out.dat 2>/dev/null | md5sum)" "$want" "$name: trace-cmd prints the same"
		is "$(analysis out.dat)" "$want_analysis" "$name: the analysis is the same"
	done
done
finish
