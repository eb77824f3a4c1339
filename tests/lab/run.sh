#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab: kernels that we patch, in qemu, with schedlat and tests of its own.
#
#	run.sh build	only the kernels
#	run.sh smoke	the kernels, and in each the smoke test
#	run.sh check	the kernels, and all of guest/*.t where their heads say
#	run.sh cached	as smoke, with what the cache has; builds and fetches nothing
#	run.sh list	which test runs where
#
# The last line is
#	N passed, N failed, N skipped
#
#	LAB_KERNELS	base,traced,debug, or the name of a directory here that has patches or
#			options for a kernel of its own; default: all that the tests name
#	LAB_SERIES	what traced and debug have of kernel-patches/series: base, tracepoints
#			(default), all; see kernel.sh
#	LAB_TESTS	only these of guest/: 10-smoke,30-values
#	LAB_CPUS, LAB_MODE, LAB_TOPO	instead of what a test's head says
#	LAB_KEEP	a directory for kernel logs, results, and what the tests left
#	LAB_OPT		more options of boot.py
#	LAB_SLOW	how many times longer than usual a guest may take (1)
# and KSRC, KCACHE, KMIRROR, QEMU, LAB_JOBS: see kernel.sh and tests/kernels/fetch.sh.
set -euo pipefail
shopt -s inherit_errexit
here=$(dirname "$(realpath "$0")")
kernels=$here/../kernels
export O=${O:-$here/../../build}
what=${1:-check}

# What a guest gets besides busybox, schedlat and the workloads; what one has not is left out.
programs=(bpftool cyclictest hackbench trace-cmd rt-app stress-ng taskset chrt lscpu
	"$O/tests/unit/test_bpf")
[ ! -d "$O/tests/lab" ] || mapfile -t -O ${#programs[@]} programs < <(
	find "$O/tests/lab" -type f \( -perm -u+x -o -name '*.bpf.o' \) | LC_ALL=C sort)
programs+=("$here"/../../kernel-patches/contract/*.format) # 33-contract
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
scores=() # "KERNEL DIRECTORY" of each guest that recorded the provokers

tally() # FILE
{
	local p f s
	read -r p f s < <(awk '
		/^ok / { if (tolower($0) ~ /# *skip/) s++; else p++ }
		/^not ok / { f++ }
		END { print p + 0, f + 0, s + 0 }' "$1")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

result() # ok|"not ok" TEXT
{
	echo "$1 1 - $2" | tee "$work/tap"
	tally "$work/tap"
}

# A test's head has one line for each guest that it wants:
#	# lab: kernels=base,traced cpus=4 mode=icount topo=sockets=2,cores=2 seconds=60 append=x
# Printed as: KERNEL CPUS MODE TOPO APPEND TEST SECONDS, "-" for what is not said.
placements()
{
	local test
	for test in "$here"/guest/*.t; do
		local name
		name=$(basename "$test" .t)
		[ -z "${LAB_TESTS:-}" ] || [[ ,$LAB_TESTS, == *",$name,"* ]] || continue
		awk -v name="$name" -v cpus="${LAB_CPUS:-}" -v mode="${LAB_MODE:-}" -v topo="${LAB_TOPO:-}" '
			function place(words, count,	d, i, p, o, k, n, append, key, value) {
				split("kernels=base,traced cpus=4 mode=icount topo=- seconds=120", d, " ")
				for (i in d) { split(d[i], p, "="); o[p[1]] = substr(d[i], length(p[1]) + 2) }
				for (i = 3; i <= count; i++) {
					key = words[i]; sub(/=.*/, "", key)
					value = substr(words[i], length(key) + 2)
					if (key == "append") append = append (append == "" ? "" : "%") value
					else if (key in o) o[key] = value
					else { print "lab: " name ": unknown word " words[i] > "/dev/stderr"; exit 1 }
				}
				if (cpus) o["cpus"] = cpus
				if (mode) o["mode"] = mode
				if (topo) o["topo"] = topo
				n = split(o["kernels"], k, ",")
				for (i = 1; i <= n; i++)
					print k[i], o["cpus"], o["mode"], o["topo"], append == "" ? "-" : append, name, o["seconds"]
			}
			/^# lab:/ { found = 1; place(w, split($0, w, " ")) }
			END { if (!found) place(w, 0) }' "$test"
	done
}

# The options of kernel.sh for a kernel's name.
recipe() # NAME
{
	case $1 in
	base) echo base fast ;;
	traced) echo "${LAB_SERIES:-tracepoints}" fast ;;
	debug) echo "${LAB_SERIES:-tracepoints}" debug ;;
	*)
		[ -d "$here/$1" ] || { echo "lab: $1 is no kernel: base, traced, debug, or a directory of tests/lab" >&2; return 1; }
		echo "${LAB_SERIES:-tracepoints}" fast "$here/$1"
		;;
	esac
}

# All tests of one guest.
boot() # NAME KERNEL CPUS MODE TOPO APPEND TESTS SECONDS
{
	local name=$1 dir=$2 cpus=$3 mode=$4 topo=$5 append=$6 tests=$7 seconds=$8 status=0 memory=1G
	local out=${LAB_KEEP:-$work}/$1
	local -a more=()

	case $mode in
	icount) more+=(--icount); seconds=$((seconds * 4)) ;;
	icount4) more+=(--icount --icount-shift 2); seconds=$((seconds * 4)) ;;
	multi) more+=(--accel tcg) ;; # not another CPU where there is KVM
	*) result "not ok" "$name: mode=$mode: must be icount, icount4 or multi"; return ;;
	esac
	[[ $name != debug* ]] || { memory=2G; seconds=$((seconds * 2 + 240)); }
	[ "$topo" = - ] || more+=(--topology "$topo")
	[ "$append" = - ] || append=${append//%/ }
	[ -z "${LAB_KEEP:-}" ] || more+=(--log "$LAB_KEEP/$name.log")
	[ -z "${LAB_KEEP:-}" ] && [[ $tests != *-score-* && $tests != *-compare* ]] || more+=(--out "$out")
	rm -rf "$out/score" "$out/compare"
	# What an earlier run left would be taken for this one's.
	[ ! -e "${LAB_KEEP:-}/$name/.lab" ] || rm -rf "${LAB_KEEP:?}/$name"
	# shellcheck disable=SC2086 # LAB_OPT is a list
	"$kernels/boot.py" --name "$name" --qemu "$qemu" --kernel "$dir/bzImage" --initrd "$work/guest.cpio" \
		--smp "$cpus" --memory "$memory" --append "nokaslr lab_cpus=$cpus ${append#-}" --tests "$tests" \
		--timeout $(((120 + seconds) * ${LAB_SLOW:-1})) "${more[@]}" ${LAB_OPT:-} |
		tee "$work/tap" || status=$?
	if [ -n "${LAB_KEEP:-}" ]; then
		cp "$work/tap" "$LAB_KEEP/$name.tap"
		[ ! -d "$LAB_KEEP/$name" ] || touch "$LAB_KEEP/$name/.lab"
	fi
	tally "$work/tap"
	[ "$status" -le 1 ] && grep -q '^1\.\.' "$work/tap" ||
		result "not ok" "$name: boot.py ended with status $status"
	[ ! -d "$out/score" ] || scores+=("$kernel $out/score")
	[ ! -d "$out/compare" ] || compare "$name" "$out/compare"
}

# What a kernel's guests recorded of the provokers, together: there is no python in them.
judge() # KERNEL DIRECTORY...
{
	local name=$1 dir
	local -a from=()

	shift
	for dir; do
		from+=(--from "$dir")
	done
	"$here/../score/score.py" --schedlat "${SCHEDLAT:-$O/schedlat}" "${from[@]}" --tap "$name" > "$work/tap" ||
		grep -q '^not ok' "$work/tap" || echo "not ok 1 - $name: score.py failed" >> "$work/tap"
	cat "$work/tap"
	[ -z "${LAB_KEEP:-}" ] || cp "$work/tap" "$LAB_KEEP/$name.score"
	tally "$work/tap"
}

# What the guest recorded by both backends at the same time.
compare() # NAME DIRECTORY
{
	"$here/compare.py" "$2" "$1" > "$work/tap" || grep -q '^not ok' "$work/tap" ||
		echo "not ok 1 - $1: compare.py failed" >> "$work/tap"
	cat "$work/tap"
	tally "$work/tap"
}

finish()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

case $what in
smoke | cached) LAB_TESTS=10-smoke ;;
build | check | list) ;;
*) echo "usage: run.sh build | smoke | check | cached | list" >&2; exit 1 ;;
esac
all=$(placements | sort)
if [ -n "${LAB_KERNELS:-}" ]; then
	all=$(awk -v only=",$LAB_KERNELS," 'index(only, "," $1 ",")' <<< "$all")
fi
if [ -z "$all" ]; then
	echo "lab: no test of tests/lab/guest is for that: LAB_TESTS=${LAB_TESTS:-} LAB_KERNELS=${LAB_KERNELS:-}" >&2
	exit 1
fi
if [ "$what" = list ]; then
	{ echo "KERNEL CPUS MODE TOPO APPEND TEST SECONDS"; echo "$all"; } | column -t
	exit
fi

# The kernels, and what each guest has instead of a disk.
declare -A directory=()
option=
[ "$what" != cached ] || option=-n
names=$(awk '{ print $1 }' <<< "$all" | awk '!seen[$0]++')
for name in $names; do
	read -r -a words <<< "$(recipe "$name")"
	status=0
	directory[$name]=$("$here/kernel.sh" $option "${words[@]}" 2> >(tee "$work/why" >&2)) || status=$?
	case $status in
	0) ;;
	3)
		sleep 0.3 # until the reason is in the file
		if [ "$what" = cached ]; then
			result ok "the lab # SKIP $(tail -n 1 "$work/why" | sed 's/^lab: //'); make lab fetches it"
		else
			result "not ok" "$name: $(tail -n 1 "$work/why" | sed 's/^lab: //')"
		fi
		finish
		;;
	4) result ok "the lab # SKIP its kernels are not built: make lab"; finish ;;
	*) result "not ok" "$name: the kernel cannot be built, see above"; directory[$name]= ;;
	esac
done
if [ "$what" = build ]; then
	for name in $names; do
		[ -z "${directory[$name]}" ] || result ok "$name: ${directory[$name]} ($(du -h "${directory[$name]}/bzImage" | cut -f 1))"
	done
	finish
fi
[ -z "${LAB_KEEP:-}" ] || mkdir -p "$LAB_KEEP"
qemu=
if ! { qemu=$("$kernels/fetch.sh" qemu) && busybox=$("$kernels/fetch.sh" busybox) &&
	KGUEST=$here/guest "$kernels/initramfs.sh" "$work/guest.cpio" "$busybox" "${programs[@]}"; }; then
	if [ "$what" = cached ] && [ -z "$qemu" ]; then
		result ok "the lab # SKIP there is no qemu 10 or newer, and none can be fetched: see above"
	else
		result "not ok" "the guest cannot be made, see above"
	fi
	finish
fi
echo "# $("$qemu" --version | head -n 1)"

# One guest for all that want the same.
while read -r kernel cpus mode topo append tests seconds; do
	[ -n "${directory[$kernel]}" ] || continue
	name=$kernel
	[ "$cpus $mode $topo $append" = "4 icount - -" ] || name+=-$cpus-$mode
	[ "$topo" = - ] || name+=-${topo//[^a-z0-9]/}
	[ "$append" = - ] || name+=-${append//[^a-zA-Z0-9]/}
	boot "$name" "${directory[$kernel]}" "$cpus" "$mode" "$topo" "$append" "$tests" "$seconds"
done < <(awk '{
		key = $1 " " $2 " " $3 " " $4 " " $5
		if (!(key in tests)) order[++n] = key
		tests[key] = tests[key] (key in tests && tests[key] != "" ? "," : "") $6
		sum[key] += $7
	}
	END { for (i = 1; i <= n; i++) print order[i], tests[order[i]], sum[order[i]] }' <<< "$all")
for kernel in $names; do
	mapfile -t from < <(printf '%s\n' "${scores[@]}" | sed -n "s/^$kernel //p")
	[ ${#from[@]} -eq 0 ] || judge "$kernel" "${from[@]}"
done
finish
