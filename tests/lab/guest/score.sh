# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Records the provokers with one backend, by score-record (tests/score/record.sh), and leaves that
# for the host to judge: tests/score/score.py --from, called by tests/lab/run.sh. Sourced after
# lib.sh by 4?-score-*.t; the shell is busybox's. From the environment or the kernel's command
# line: SCORE_ONLY=a,b only these; SCORE_RUNS of each.

for word in $(cat /proc/cmdline); do
	case $word in
	SCORE_ONLY=* | SCORE_RUNS=*) export "${word?}" ;;
	esac
done

sched=/sys/kernel/debug/sched

# Sets the kernel to what a provoker needs. Prints what undoes it.
score_set() # [preempt=MODEL|feature=NAME]...
{
	for need; do
		value=${need#*=}
		case $need in
		preempt=*)
			sed 's/.*(\(.*\)).*/preempt=\1/' $sched/preempt
			echo "$value" 2>/dev/null >$sched/preempt
			;;
		feature=*)
			grep -qw "$value" $sched/features && continue
			if [ "${value#NO_}" = "$value" ]; then
				echo "feature=NO_$value"
			else
				echo "feature=${value#NO_}"
			fi
			echo "$value" 2>/dev/null >$sched/features
			;;
		esac
	done
}

# One result per run: recorded, or a skip with the reason that the provoker or the tool gives.
score_one() # BACKEND PROVOKER RUN
{
	# Both are lists of words.
	# shellcheck disable=SC2046
	undo=$(score_set $("/workloads/$2" --about | sed -n 's/^needs=//p'))
	run score-record /out/score "/workloads/$2" "$1" "$3" 0.5 "${SCORE_SECONDS:-1.5}" --compress
	# shellcheck disable=SC2086
	score_set $undo >/dev/null
	if [ "$status" -eq 77 ]; then
		skip "$2 ($1)" "$(echo "$said" | tail -n 1)"
	else
		ok "$status" "$2 ($1) recorded" "$said"
	fi
}

score() # BACKEND [PROVOKER...]
{
	backend=$1
	shift
	# shellcheck disable=SC2046 # names without blanks
	[ $# -gt 0 ] || set -- $(ls /workloads)
	mkdir -p /out/score
	for provoker; do
		case ,${SCORE_ONLY:-$provoker}, in
		*,$provoker,*) ;;
		*) continue ;;
		esac
		for run in $(seq 0 $((${SCORE_RUNS:-1} - 1))); do
			score_one "$backend" "$provoker" "$run"
		done
	done
	leaves_nothing "$backend"
	is "$(ls -d /sys/fs/cgroup/schedlat-* 2>/dev/null)" "" "$backend: no group is left"
}
