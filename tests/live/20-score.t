#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The scoreboard on the provokers that do not depend on what else runs. `make score` has all of them.
top=$(realpath "$(dirname "$0")/../..") # lib.sh changes the directory
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
[ -x "${O:-}/tests/workloads/rt-hog" ] || skip_all "the provokers are not built: make workloads"

# Generous: make score asks for 95 % of all of them.
least=75
# shellcheck disable=SC2016
judge='
import json, sys
board = json.load(open("score.json"))
for s in board["skipped"] + board["broken"]:
    print("skip", s["provoker"], s["backend"], s["why"].replace("\n", " "))
for r in board["results"]:
    print("judged", r["provoker"], r["backend"], r["wrong_ns"]["exact"] * 100 // max(r["total_ns"], 1),
          round(r["true_percent"]))
'

for backend in tracefs bpf; do
	"$top/tests/score/score.py" --schedlat "$SCHEDLAT" --workloads "$O/tests/workloads" --backend $backend \
		--only rt-hog,deadline-hog,lost-events --seconds 1 --warm-up 0.3 --json score.json >score.txt 2>&1
	within $? 0 1 "$backend: the scoreboard runs"
	while read -r what name _ rest; do
		if [ "$what" = skip ]; then
			skip "$backend: $name" "$rest"
			continue
		fi
		read -r wrong true <<<"$rest"
		within "$wrong" 0 2 "$backend: $name: what is wrong is not called exact"
		within "$true" $least 100 "$backend: $name: the true cause is named"
	done < <(python3 -c "$judge")
done
finish
