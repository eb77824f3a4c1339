#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The evaluation of the short-slice series: tests A to E in guests, on the kernel without it
# and on the one with it, in turn; then the tables that people post (eval.py).
#
#	EVAL_TESTS	"A B C D E"
#	EVAL_RUNS	of each, on each kernel (5); they are paired: base, series, base, series ...
#	EVAL_CPUS	"4"; "4 8" are two sets of tables
#	EVAL_MODES	"icount": see README.md; "icount multi" are two sets
#	EVAL_TURN_US	see below (40); 0: without
#	EVAL_BASE	tracepoints (the plain kernel with the decision tracepoints, which are off), base
#	EVAL_SERIES	all: what of kernel-patches/series the other one has; none: only base runs.
#			Either can be a directory that has bzImage, release, patches, as kernel.sh makes
#	EVAL_FEATURES	"NO_PUSH_TASK": switched in the second kernel, by debugfs
#	EVAL_SECONDS	how long A to D measure, in the guest's time (10)
#	EVAL_RECORDED	in how many of the runs each test is done once more and recorded (1)
#	EVAL_KEEP	a directory for all that was measured (else it is removed); runs that are
#			there already are not done again
#	RESULTS=1	writes kernel-patches/RESULTS.md
# and KSRC, KCACHE, QEMU, LAB_JOBS, LAB_SLOW: see run.sh.
#
# In EVAL_KEEP: CPUS-MODE/RUN/SIDE/ has what the guest left (guest/eval-run.sh), its log, and
# "conditions", lines KEY=VALUE. SIDE is base or series.
set -euo pipefail
shopt -s inherit_errexit
here=$(dirname "$(realpath "$0")")
kernels=$here/../kernels
export O=${O:-$here/../../build}
tests=${EVAL_TESTS:-A B C D E}
runs=${EVAL_RUNS:-5}
seconds=${EVAL_SECONDS:-10}
recorded=${EVAL_RECORDED:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${EVAL_KEEP:-$work/keep}

die() { echo "lab-eval: $*" >&2; exit 1; }

for test in $tests; do
	[[ $test == [ABCDE] ]] || die "EVAL_TESTS=$tests: a test is A, B, C, D or E"
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "EVAL_RUNS=$runs: not a number of runs"

declare -A series=([base]=${EVAL_BASE:-tracepoints} [series]=${EVAL_SERIES:-all}) directory=()
sides="base series"
[ "${series[series]}" != none ] || sides=base
for side in $sides; do
	directory[$side]=${series[$side]}
	[ -f "${directory[$side]}/bzImage" ] || directory[$side]=$("$here/kernel.sh" "${series[$side]}" fast)
done
[ "$sides" = base ] || [ "${directory[base]}" != "${directory[series]}" ] || [ -n "${EVAL_FEATURES:-}" ] ||
	die "${series[base]} and ${series[series]} are the same kernel: nothing to compare (EVAL_SERIES=none measures one)"

# The guest: only one test, which is ours.
qemu=$("$kernels/fetch.sh" qemu)
busybox=$("$kernels/fetch.sh" busybox)
mkdir "$work/guest"
cp "$here"/guest/eval-tests.sh "$work/guest/"
cp "$here"/guest/eval-run.sh "$work/guest/eval.t"
KGUEST=$work/guest "$kernels/initramfs.sh" "$work/guest.cpio" "$busybox" \
	cyclictest hackbench rt-app taskset "$O/tests/lab/eval/eval-wake"

# With -icount one thread runs the virtual CPUs in turn, and each has its turn until the next
# timer of the machine is due, divided by their number: a busy CPU lets a timer interrupt or a
# wakeup on another one wait for hundreds of microseconds. A timer of qemu that the guest does not
# see (that of a network filter, on a hub with nothing else on it) makes turns of microseconds.
turn_us=${EVAL_TURN_US:-40}
turns=()
# shellcheck disable=SC2054 # commas are qemu's
[ "$turn_us" = 0 ] || turns=(--option=-netdev --option=hubport,id=turns,hubid=0
	--option=-object --option="filter-buffer,id=turn,netdev=turns,interval=$turn_us")

# Which patches a kernel has: the last commit that changed one of them.
commit()
{
	local list
	[ -f "$1/patches" ] || { echo unknown; return; }
	list=$(sed 's,^,kernel-patches/,' "$1/patches")
	[ -n "$list" ] || { echo none; return; }
	# shellcheck disable=SC2086 # a list of paths without blanks
	(cd "$here/../.." && echo "$(git log -1 --format=%h -- $list 2>/dev/null || echo unknown)$(
		git diff --quiet HEAD -- $list 2>/dev/null || echo ", changed since")")
}

# One boot: all tests once.
boot() # CPUS MODE RUN SIDE
{
	local cpus=$1 mode=$2 run=$3 side=$4 out=$keep/$1-$2/$3/$4 record=0 features='' status=0
	local -a more

	[ ! -e "$out/conditions" ] || { echo "# $cpus CPUs, $mode, run $run, $side: was there"; return 0; }
	case $mode in
	icount) more=(--icount "${turns[@]}") ;;
	icount4) more=(--icount --icount-shift 2 "${turns[@]}") ;;
	multi) more=(--accel tcg) ;;
	*) die "EVAL_MODES: $mode: must be icount, icount4 or multi" ;;
	esac
	[ "$run" -gt "$recorded" ] || record=$(((seconds + 1) / 2))
	[ "$side" = base ] || features=${EVAL_FEATURES:-}
	rm -rf "$out"
	mkdir -p "$out"
	"$kernels/boot.py" --name "$side" --qemu "$qemu" --kernel "${directory[$side]}/bzImage" \
		--initrd "$work/guest.cpio" --smp "$cpus" --memory 2G --tests eval --seconds 3600 \
		--append "nokaslr eval_tests=${tests// /,} eval_seconds=$seconds eval_record=$record eval_run=$run ${features:+eval_features=${features// /,}}" \
		--timeout $((3000 * ${LAB_SLOW:-1})) --log "$out/console" --out "$out" "${more[@]}" > "$out/tap" || status=$?
	grep -E '^not ok|^# ' "$out/tap" | grep -A 5 '^not ok' >&2 || true
	[ "$status" -eq 0 ] || die "$cpus CPUs, $mode, run $run, $side: the guest failed, see above"
	{
		echo "cpus=$cpus"
		echo "mode=$mode"
		echo "turn_us=$turn_us"
		echo "seconds=$seconds"
		echo "record=$record"
		echo "kernel=$(cat "${directory[$side]}/release")"
		echo "series=${series[$side]}"
		echo "commit=$(commit "${directory[$side]}")"
		echo "features=$features"
		echo "qemu=$("$qemu" --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')"
		echo "host=$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	} > "$out/conditions"
	echo "# $cpus CPUs, $mode, run $run, $side: $(sed -n 's/^# [^:]*: \(.* s in all\)/\1/p' "$out/tap")"
}

for cpus in ${EVAL_CPUS:-4}; do
	for mode in ${EVAL_MODES:-icount}; do
		for ((run = 1; run <= runs; run++)); do
			for side in $sides; do
				boot "$cpus" "$mode" "$run" "$side"
			done
		done
	done
done

# The tables, and for which run of this script.
words=
for word in EVAL_TESTS EVAL_RUNS EVAL_CPUS EVAL_MODES EVAL_TURN_US EVAL_BASE EVAL_SERIES EVAL_FEATURES EVAL_SECONDS; do
	[ -z "${!word:-}" ] || words+=" $word='${!word}'"
done
tables=("$here/eval.py" --schedlat "${SCHEDLAT:-$O/schedlat}")
[ -z "${RESULTS:-}" ] || tables+=(--head "# Results

Written by \`make lab-eval RESULTS=1$words\`; what is compared and how: tests/lab/README.md. In the tables
+ is better. A guest in qemu has other latencies than a machine: only what differs between the two
kernels says something.")
"${tables[@]}" "$keep" > "$work/results"
cat "$work/results"
[ -z "${RESULTS:-}" ] || cp "$work/results" "$here/../../kernel-patches/RESULTS.md"
