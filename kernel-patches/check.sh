#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Are the patches what README.md promises?
#
#	check.sh	apply to the untouched source without fuzz, checkpatch.pl, the contract
#	MATRIX=1	also: each patch alone compiles, in every config of matrix/
#
# Speaks TAP; the last line is
#	N passed, N failed, N skipped
# The source: KSRC, or the package that tests/lab/source.sh fetches into KCACHE.
#	MATRIX_CONFIGS=full,i386	only these of matrix/
#	MATRIX_DIR			a build directory to keep; default: one that goes away
set -euo pipefail
here=$(dirname "$(realpath "$0")")

passed=0 failed=0 skipped=0 number=0
tally() # LINE
{
	local line=$1
	case $line in
	"ok "* | "not ok "*) ;;
	*) echo "$line"; return ;;
	esac
	number=$((number + 1))
	if [[ $line == "not ok "* ]]; then
		failed=$((failed + 1))
		echo "not ok $number - ${line#not ok }"
		return
	fi
	if [[ ${line,,} == *"# skip"* ]]; then skipped=$((skipped + 1)); else passed=$((passed + 1)); fi
	echo "ok $number - ${line#ok }"
}

# The parts print "ok TEXT" and "not ok TEXT"; one that dies without is one more failure.
part() # NAME COMMAND...
{
	local name=$1 line before=$number status
	shift
	while IFS= read -r line; do
		case $line in
		"status "*) status=${line#status } ;;
		*) tally "$line" ;;
		esac
	done < <("$@" 2>&1 && echo "status 0" || echo "status $?")
	if [ "$status" -ne 0 ] || [ "$number" -eq "$before" ]; then
		tally "not ok $name ended with status $status after $((number - before)) results"
	fi
}

why=$(mktemp)
trap 'rm -f "$why"' EXIT
status=0
source=$("$here/../tests/lab/source.sh" 2> "$why") || status=$?
case $status in
0)
	part check.py "$here/check.py" "$source"
	[ -z "${MATRIX:-}" ] || part matrix.sh "$here/matrix.sh" "$source"
	;;
3) tally "ok the patches # SKIP $(tail -n 1 "$why")" ;;
*)
	sed 's/^/# /' "$why"
	tally "not ok the source of the kernel"
	;;
esac

echo "1..$number"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
