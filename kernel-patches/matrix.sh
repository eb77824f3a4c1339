#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does each patch compile alone, without a warning that the source does not have? Part of
# check.sh: prints "ok TEXT" and "not ok TEXT".
#
#	matrix.sh SOURCE
#
# The patches are applied one by one to a tree of hard links to SOURCE, which stays as it is;
# after each that changes code kernel/sched/ is built in every config of matrix/ with W=1. At
# the end, what the events cost in the code while they are off (cost.py), as comments.
# MATRIX_CONFIGS, MATRIX_DIR: see check.sh. MATRIX_JOBS: how many compilers at once.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source=$(realpath "${1:?the source of the kernel}")
jobs=${MATRIX_JOBS:-$(nproc)}

if [ -n "${MATRIX_DIR:-}" ]; then
	work=$(realpath -m "$MATRIX_DIR")/schedlat-matrix
	mkdir -p "$work"
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi

configs=() good=()
for file in "$here"/matrix/*.config; do
	name=$(basename "$file" .config)
	[ -z "${MATRIX_CONFIGS:-}" ] || [[ ,$MATRIX_CONFIGS, == *",$name,"* ]] || continue
	configs+=("$name")
done
[ ${#configs[@]} -gt 0 ] || { echo "not ok MATRIX_CONFIGS=$MATRIX_CONFIGS names no config of matrix/"; exit; }

# GNU patch writes a new file and renames it: the link to SOURCE is gone by then.
# A tree that was left half patched is not what its objects say.
if ! [ -f "$work/clean" ]; then
	rm -rf "${work:?}"/*
	cp -al "$source" "$work/src" 2>/dev/null || { rm -rf "$work/src"; cp -a "$source" "$work/src"; }
fi
rm -f "$work/clean"
apply() # [-R] PATCH
{
	patch -p1 --fuzz=0 --batch --silent --no-backup-if-mismatch -d "$work/src" "${@:1:$#-1}" -i "${!#}"
}

kmake() # CONFIG ARGUMENTS...
{
	local arch
	arch=$(sed -n 's/^# arch: //p' "$here/matrix/$1.config")
	make -s -C "$work/src" O="$work/$1" ARCH="$arch" "${@:2}"
}

# The options that a config asks for and does not get: it would not test what it says.
refused() # CONFIG
{
	grep -E '^(CONFIG_|# CONFIG_.* is not set)' "$here/matrix/$1.config" | while read -r line; do
		case $line in
		"#"*) name=${line#\# } name=${name% is not set}; ! grep -q "^$name=" "$work/$1/.config" || echo "$line" ;;
		*) grep -qx "$line" "$work/$1/.config" || echo "$line" ;;
		esac
	done
}

# Warnings and errors of one build, without the line numbers that a patch moves.
warnings() # LOG
{
	grep -E '(warning|error|undefined reference|modpost)' "$1" | grep -vE '^make' |
		sed -E "s,$work/src/,,; s/:[0-9]+(:[0-9]+)?:/:/g" | sort -u
}

build() # CONFIG LOG
{
	kmake "$1" -j"$jobs" W=1 kernel/sched/ > "$2" 2>&1
}

compare() # CONFIG TEXT
{
	local status=0
	build "$1" "$work/$1.log" || status=$?
	warnings "$work/$1.log" > "$work/$1.warnings" || true
	if [ "$status" -ne 0 ] || ! new=$(comm -13 "$work/$1.base" "$work/$1.warnings") || [ -n "$new" ]; then
		echo "not ok $1: $2"
		tail -n 30 "$work/$1.log" | sed 's/^/# /'
	else
		echo "ok $1: $2"
	fi
}

for config in "${configs[@]}"; do
	if ! kmake "$config" KCONFIG_ALLCONFIG="$here/matrix/$config.config" allnoconfig > "$work/$config.log" 2>&1 ||
		! build "$config" "$work/$config.log"; then
		echo "not ok $config: the untouched source"
		tail -n 30 "$work/$config.log" | sed 's/^/# /'
		continue
	fi
	left=$(refused "$config")
	if [ -n "$left" ]; then
		echo "not ok $config: the config is what it says"
		sed 's/^/# /' <<< "$left"
	fi
	warnings "$work/$config.log" > "$work/$config.base" || true
	cp "$work/$config/kernel/sched/fair.o" "$work/$config.base.o"
	good+=("$config")
done

applied=()
# A tree that is kept is the untouched one again, also after an error.
undo()
{
	for ((i = ${#applied[@]} - 1; i >= 0; i--)); do apply -R "${applied[i]}"; done
	if [ -n "${MATRIX_DIR:-}" ]; then touch "$work/clean"; else rm -rf "$work"; fi
}
trap undo EXIT

while read -r name; do
	apply "$here/$name" || { echo "not ok $name does not apply"; exit; }
	applied+=("$here/$name")
	grep -qE '^diff --git a/\S+\.[ch] ' "$here/$name" || continue
	for config in "${good[@]}"; do
		compare "$config" "$(basename "$name" .patch) compiles, no new warning"
	done
done < <(grep -vE '^[[:space:]]*(#|$)' "$here/series")

for config in "${good[@]}"; do
	[[ $config == full || $config == i386 ]] || continue
	echo "# $config: fair.o while the events are off, see cost.py"
	"$here/cost.py" "$work/$config.base.o" "$work/$config/kernel/sched/fair.o" | sed 's/^/# /'
done
